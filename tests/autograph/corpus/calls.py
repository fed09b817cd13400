"""Calls: helpers, recursion, lambdas, closures, decorators, partial application."""

import functools
import math

import numpy as np
from tests.autograph.harness import case, log

import kinetograph as kg

SCALE = 3
counter = 0


def clipped(x, low=0, high=10):
    if x < low:
        return low
    if x > high:
        return high
    return x


def total(*values, start=0, **weights):
    s = start
    for v in values:
        s = s + v
    for key in sorted(weights):
        if weights[key] > 0:
            s = s + len(key) * weights[key]
    return s


@case(5, 50, -5)
def helper_with_control_flow(x):
    return clipped(x) + 1


@case(5, 50, -5)
def helper_with_keywords(x):
    return clipped(x, high=20), clipped(high=7, x=x, low=6)


@case((5, 1), (50, 1), (1, -50))
def helper_of_a_helper(x, y):
    def both(a, b):
        return clipped(a) + clipped(b, low=-3)

    return both(x, y)


@case(5, 0)
def helper_in_a_loop(n):
    s = 0
    for i in kg.range(n):
        s = s + clipped(i * 3, 2, 7)
    return s


@case(5, 50)
def helper_in_a_condition(x):
    def large(v):
        return v > 10

    if large(x):
        return 1
    return 0


@case((1, 2, 3), (-1, -2, -3))
def starred_call(a, b, c):
    items = [a, b]
    return total(*items, c, start=10)


@case((1, 2), (-1, -2))
def keyword_starred_call(a, b):
    options = {"xx": a, "y": b}
    return total(a, **options)


@case((1, 2, 3), (-1, 5, 3))
def variadic_definition(a, b, c):
    def count(*args, **kwargs):
        s = len(args) + 10 * len(kwargs)
        for v in args:
            if v > 0:
                s = s + v
        return s

    return count(a, b, c), count(), count(a, key=b)


@case((2, 5), (-2, 5))
def keyword_only_parameters(x, y):
    def f(a, /, b, *, c=1, d):
        return a + 10 * b + 100 * c + 1000 * d if a > 0 else d

    return f(x, y, d=3), f(x, b=2, c=4, d=y)


@case((2, 4), (3, 0), static=("n",))
def recursion(x, n):
    def power(base, k):
        if k == 0:
            return 1
        return base * power(base, k - 1)

    return power(x, n) + 0 * x


def module_power(x, n):
    return x if n == 1 else x * module_power(x, n - 1)


@case((2, 4), (3, 1), static=("n",))
def recursion_of_a_module_function(x, n):
    return module_power(x, n)


@case((1, 6), (-1, 6), static=("n",))
def recursion_with_a_symbolic_branch(x, n):
    def walk(v, k):
        if k == 0:
            return v
        if v > 5:
            v = v - 3
        else:
            v = v * 2
        return walk(v, k - 1)

    return walk(x, n)


@case((7,), (8,), static=("n",))
def mutual_recursion(n):
    def even(k):
        return True if k == 0 else odd(k - 1)

    def odd(k):
        return False if k == 0 else even(k - 1)

    return even(n), odd(n)


@case(1, -1)
def lambda_stored(x):
    f = lambda v: v * 2 if v > 0 else v * 3
    return f(x)


@case(1, -1)
def two_lambdas_on_one_line(x):
    f, g = lambda v: v + 1 if v > 0 else v, lambda v: v * 5 if v > 0 else v - 1
    return f(x), g(x)


@case(1, -1)
def equal_lambdas_on_one_line(x):
    f, g = lambda v: v + 1, lambda v: v + 1
    return f(x) + g(x)


@case(1, -1)
def lambda_of_a_lambda(x):
    f = lambda a: lambda b: a * 10 + b if b > 0 else a
    return f(x)(x + 1)


@case(1, -1)
def lambda_with_defaults(x):
    f = lambda a, b=5, *c, d=7: a + b * 2 + len(c) + d if a > 0 else b
    return f(x), f(x, 1), f(x, 1, 2, 3, d=4)


@case(1, -1)
def lambda_called_at_once(x):
    return (lambda v: v if v > 0 else -v)(x)


@case(3, 0)
def closure_reads(n):
    offset = n * 10

    def add(v):
        return v + offset

    s = 0
    for i in kg.range(n):
        s = add(s) + i
    return s + offset


@case(3, 0)
def closure_counts_by_nonlocal(n):
    count = 0

    def bump(v):
        nonlocal count
        count = count + v

    bump(n)
    bump(1)
    return count


@case(1, -1)
def nonlocal_in_a_branch(x):
    count = 0

    def bump(v):
        nonlocal count
        if v > 0:
            count = count + v
        else:
            count = count - 10

    bump(x)
    bump(x + 1)
    return count


@case(1, 2)
def global_is_read_and_set(x):
    global counter
    before = counter
    counter = 5
    y = x + counter
    counter = before
    return y


@case(1, -1)
def module_constant(x):
    if x > 0:
        return x * SCALE
    return x


def make_adder(k):
    def add(x):
        if x > 0:
            return x + k
        return x - k

    return add


add_seven = make_adder(7)


@case(1, -1)
def closure_made_elsewhere(x):
    return add_seven(x) + make_adder(100)(x)


@case((1, 4), (-1, 4))
def partial_application(x, y):
    f = functools.partial(clipped, low=2)
    return f(x), f(y, high=3), functools.partial(f, high=1)(x)


def doubled(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        return 2 * f(*args, **kwargs)

    return wrapper


def repeated(times):
    def decorator(f):
        def wrapper(x):
            for _ in range(times):
                x = f(x)
            return x

        return wrapper

    return decorator


@doubled
def decorated_helper(x):
    if x > 0:
        return x + 1
    return x


@repeated(3)
@doubled
def twice_decorated_helper(x):
    return x + 1 if x > 0 else x - 1


@case(1, -1)
def decorated_callees(x):
    return decorated_helper(x), twice_decorated_helper(x)


@case(1, -1)
def decorator_inside(x):
    @doubled
    def inner(v):
        if v > 0:
            return v + 5
        return v

    return inner(x)


@case((3, "square"), (3, "cube"))
def dispatch_by_a_dictionary(x, name):
    table = {"square": lambda v: v * v, "cube": lambda v: v * v * v}
    return table[name](x)


@case(3, -3)
def function_passed_to_a_function(x):
    def apply(f, v):
        return f(f(v))

    return apply(lambda v: v * 2 if v > 0 else v - 1, x), apply(decorated_helper, x)


@case((3, 4), (0, 4))
def function_called_in_the_test(n, k):
    def below(i):
        return i < n * k

    i = 1
    while below(i):
        i = i * 2
    return i


@functools.lru_cache
def cached(k):
    return k * k


@case((3, 4), (3, 5), static=("k",))
def cached_callee(x, k):
    return x + cached(k)


@case(2.0, 3.0)
def library_functions(x):
    return np.exp(x) + math.sqrt(16) + functools.reduce(lambda a, b: a + b, [x, x, 1.0])


@case((1, 2), (2, 1))
def defaults_are_evaluated_once(x, y):
    def f(v, seen=log([])):  # noqa: B008
        seen.append(v)
        return len(seen)

    return f(x), f(y), x - y


@case((1, 2), (-1, 2))
def returned_function(x, y):
    def choose(flag):
        if flag == "first":
            return lambda a, b: a if a > 0 else b
        return lambda a, b: b

    return choose("first")(x, y), choose("second")(x, y)


@case(
    0,
)
def docstring_and_name_are_kept(x):
    def inner(v):
        """Says something."""
        return v

    return inner.__name__, inner.__doc__, inner(x)


@case((5, 2), (1, 2))
def staged_function_inside(x, y):
    return twice_if_large(x) + twice_if_large(y)


@kg.function
def twice_if_large(x):
    if x > 3:
        return 2 * x
    return x
