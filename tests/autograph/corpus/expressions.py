"""Conditional expressions, and/or/not, comparisons, the walrus."""

import math

import numpy as np
from tests.autograph.harness import case, log


@case(1, -1)
def conditional(x):
    return x + 1 if x > 0 else x - 1


@case(3, 0, -3)
def conditional_chain(x):
    return 1 if x > 0 else -1 if x < 0 else 0


@case((1, 1), (1, -1), (-1, 1))
def conditional_nested(x, y):
    return (10 if y > 0 else 20) if x > 0 else 30


@case((1, 2), (3, 2))
def conditional_as_an_argument(x, y):
    return max(x if x > y else y, 2) * 10 if isinstance(x, int) else (x if x > y else y) * 10


@case((1, 2), (3, 2))
def conditional_in_arithmetic(x, y):
    return 2 * (x if x > y else y) + 1


@case((1, 2), (3, 2))
def conditional_of_tuples(x, y):
    low, high = (x, y) if x < y else (y, x)
    return low, high


@case((2, True), (2, False), static=("double",))
def python_conditional(x, double):
    return log(x * 2) if double else log(x + 1)


@case(2, 0)
def python_conditional_is_lazy(x):
    y = None
    return x if y is None else y + x


@case((1, None), (1, 5))
def conditional_on_none(x, y):
    return x if y is None else x + y


@case((1, 1), (1, -1), (-1, -1))
def and_of_symbols(x, y):
    return x > 0 and y > 0


@case((1, 1), (1, -1), (-1, -1))
def or_of_symbols(x, y):
    return x > 0 or y > 0


@case(1, -1)
def not_of_a_symbol(x):
    return not x > 0


@case((1, 1, 1), (1, 1, -1), (-1, 1, 1))
def and_of_three(x, y, z):
    return x > 0 and y > 0 and z > 0


@case((-1, -1, 1), (-1, -1, -1), (1, -1, -1))
def or_of_three(x, y, z):
    return x > 0 or y > 0 or z > 0


@case((1, 1, 1), (1, -1, -1), (-1, 1, 1), (-1, 1, -1))
def and_binds_before_or(x, y, z):
    return x > 0 and y > 0 or z > 0  # noqa: RUF021


@case((1, 1), (1, -1), (-1, 1))
def not_of_and(x, y):
    return not (x > 0 and y > 0)


@case((1, True), (1, False), (-1, True), static=("flag",))
def and_of_symbol_and_python(x, flag):
    return x > 0 and flag


@case((1, True), (1, False), (-1, True), static=("flag",))
def and_of_python_and_symbol(x, flag):
    return flag and x > 0


@case((1, True), (-1, True), (-1, False), static=("flag",))
def or_of_symbol_and_python(x, flag):
    return x > 0 or flag


@case((1, True), (1, False), (-1, False), static=("flag",))
def or_of_python_and_symbol(x, flag):
    return flag or x > 0


@case((True, False), (False, False))
def not_of_a_boolean_argument(p, q):
    return not p, not q, not (p or q)


@case((0, 5), (3, 5), static=("a", "b"))
def values_of_and_and_or(a, b):
    return (a and b), (a or b), (a and log("and")), (a or log("or"))


@case(([], "x"), ([1], "x"), static=("a",))
def empty_containers_as_conditions(a, b):
    return (a or b), (b and len(a)), not a


@case((0, 1), (1, 0), static=("a", "b"))
def short_circuit_effects(a, b):
    first = log(a) and log(b)
    second = log(a) or log(b)
    return first, second


@case((0,), (4,), static=("n",))
def short_circuit_protects(n):
    return n != 0 and 12 / n > 2


@case(5, 0, 12)
def chain(x):
    return 0 < x < 10


@case((1, 2, 3), (1, 3, 2), (2, 1, 3))
def chain_of_three(a, b, c):
    return a < b < c


@case((1, 1, 3), (1, 2, 2), (2, 2, 2))
def chain_of_equalities(a, b, c):
    return a == b == c


@case((1, 2, 3), (1, 2, 2), (3, 2, 1))
def chain_of_mixed_operators(a, b, c):
    return a < b >= c != a


@case((1, 2, 3, 4), (1, 2, 4, 3), (1, 1, 1, 1))
def chain_of_four(a, b, c, d):
    return a <= b < c <= d


@case((3,), (8,), static=("x",))
def chain_evaluates_once(x):
    return log(1) < log(x) < log(5) < log(7)


@case(3, 7)
def chain_with_python_ends(x):
    lower, upper = 1, 5
    return lower < x < upper


@case((3, 3), (3, 4))
def equality(a, b):
    return a == b, a != b


@case((1, None), (1, 2))
def identity_and_none(x, y):
    return y is None, y is not None


@case(("a",), ("z",))
def membership(s):
    return s in ("a", "b"), s not in {"a": 1}


@case(5, 6)
def membership_in_a_range(n):
    return (3 in range(5), 7 in [1, 2], n + 1)


@case((7, 2), (-7, 2), (7, -2))
def integer_operators(a, b):
    return a + b, a - b, a * b, a // b, a % b, -a, +a, a / b


@case((6, 3), (5, 1))
def bit_operators(a, b):
    return a & b, a | b, a ^ b, ~a


@case((2.5, 1.25), (-2.5, 0.5))
def float_operators(a, b):
    return a + b, a - b, a * b, a / b, -a, abs(a), a**2


@case(1, -1)
def walrus_in_an_if(x):
    if (y := x * 2) > 0:
        return y + 1
    return y - 1


@case(100, 3, 0)
def walrus_in_a_while(n):
    i, s = 0, 0
    while (square := i * i) < n:
        s += square
        i += 1
    return s, i, square


@case((10, 3), (1, 3))
def walrus_in_a_while_that_reads_itself(n, step):
    value = 0
    while (value := value + step) < n:
        pass
    return value


@case((10, 50), (50, 10), (0, 0))
def walrus_in_and(n, m):
    s = 0
    while (a := n - s) > 0 and (b := m - s * 2) > 0:
        s += a % 3 + b % 2 + 1
    return s


@case(3, 5)
def walrus_in_a_comprehension(x):
    last = 0
    values = [last := last + k for k in range(4)]
    return [v * x for v in values], last


@case(3, -3)
def walrus_nested(x):
    return (a := (b := x + 1) * 2) + a + b


@case(3, -3)
def walrus_in_a_conditional(x):
    y = (z := x * 2) if x > 0 else (z := x * 3)
    return y + z


@case((1, "p"), (1, "q"))
def walrus_in_an_elif(x, key):
    table = {"p": 3}
    if (v := table.get(key)) is not None:
        return x + v
    elif (w := len(key)) > 0:
        return x - w
    return x


@case((5, 1), (5, -1))
def walrus_in_a_call(x, y):
    z = abs(w := y * x)
    return z, w


@case([3, 1, 2], [1, 2, 3])
def comparison_of_elements(v):
    return v[0] < v[1] < v[2], v[0] > v[2] or v[1] > v[2]


@case(([1.0, 5.0], 2.0), ([1.0, 1.0], 2.0))
def elementwise_comparison(v, x):
    return np.any(np.greater(v, x)), np.all(np.less(v, x))


@case(2.0, 0.5)
def numpy_functions(x):
    y = np.exp(-x) if x > 1 else np.log(x)
    return y, np.sqrt(x)


@case(2.0, 0.5)
def python_constants(x):
    return x * math.pi if x > 1 else x * math.e


@case((2, 3), (3, 2))
def conditional_with_calls(x, y):
    def twice(v):
        return 2 * v

    return twice(x) if x > y else twice(twice(y))


@case((1, 2), (2, 1))
def conditional_target_of_an_index(x, y):
    values = [10, 20]
    return values[0 if x is None else 1] + (values[0] if x > y else values[1])


@case((1,), (-1,))
def conditional_in_an_augmented_assignment(x):
    s = 10
    s += x if x > 0 else 5
    s *= 2 if x > 0 else 3
    return s


@case((1, 2), (-1, 2))
def conditional_in_a_return_of_structures(x, y):
    return {"a": x if x > 0 else y, "b": [y if x > 0 else x]}


@case((1, 2), staged_raises=(TypeError, ""))
def conditional_of_differing_structures(x, y):
    return (x, y) if x > 0 else [x, y]


@case(3, -3)
def lambda_with_a_conditional(x):
    f = lambda v: v + 1 if v > 0 else v - 1
    return f(x), f(-x)


@case(1, 0, -0.0, np.nan)
def number_as_a_condition(x):
    return 1 if x else 2
