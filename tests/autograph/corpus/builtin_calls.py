"""Python's builtin functions on arrays and on Python values, and `assert`."""

import builtins

import numpy as np
from tests.autograph.harness import case, log

import kinetograph as kg


@case([1, 2, 3], [4, 5, 6])
def length(v):
    return len(v) * v[0]


@case(np.ones((2, 3)), np.zeros((2, 3)))
def length_of_a_matrix(t):
    n = len(t)
    s = t[0][0]
    for i in range(n):
        s = s + i
    return s


@case((1, [1, 2]), (1, "abc"), static=("items",))
def length_in_python(x, items):
    return x + len(items)


@case(3, -3)
def absolute_value(x):
    return abs(x) + 1


@case(-2.5, 2.5)
def absolute_value_of_a_float(x):
    return abs(x)


@case(2.75, -2.75)
def integer_of_a_float(x):
    return int(x)


@case((True,), (False,))
def integer_of_a_boolean(b):
    return int(b) + 1


@case(3, -3)
def float_of_an_integer(x):
    return float(x) / 2


@case(3, 0)
def boolean_of_an_integer(x):
    return bool(x)


@case(("12", 8), ("7", 16), static=("text", "base"))
def integer_of_a_text(text, base):
    return int(text, base), int(text), float(text)


@case((12,), staged_raises=(NotImplementedError, "base"), raises=TypeError)
def integer_with_a_base(x):
    return int(x, base=2)


@case(np.array([True, False]), np.array([True, True]), np.array([False, False]))
def any_and_all(v):
    return any(v), all(v)


@case(([1, 2],), ([0, 2],), ([0, 0],), static=("v",))
def any_and_all_in_python(v):
    return any(v), all(v)


@case((1, 5, 3), (5, 1, 3), (-1, -5, -3))
def extremes_of_arguments(a, b, c):
    return min(a, b, c), max(a, b, c), min(a, 2), max(2, a)


@case([3, 1, 2], [-3, -1, -2])
def extremes_of_an_array(v):
    return min(v), max(v)


@case([3, 1, 2], [-3, -1, -2])
def extremes_of_a_list(v):
    return min([v[0], v[1]]), max((v[1], v[2]))


@case((["bb", "a", "ccc"],), (["x", "yy"],))
def extremes_with_a_key(words):
    return min(words, key=len), max(words, key=len), max([], default=3)


@case([3, 1, 2], [-3, -1, -2])
def sum_of_an_array(v):
    return sum(v), sum(v, 10)


@case((1, 2), (3, 4))
def sum_of_a_list(a, b):
    return sum([a, b, 3])


@case(np.array([3, 1, 2]), np.array([-3, -1, -2]))
def sorted_array(v):
    w = sorted(v)
    return w[0] * 100 + w[1] * 10 + w[2]


@case((["b", "a"],), (["c", "a", "b"],))
def sorted_in_python(words):
    return sorted(words), sorted(words, reverse=True), sorted(words, key=lambda w: -ord(w))


@case(2, 3)
def python_range(x):
    return [x * i for i in range(1, 7, 2)], len(range(5)), list(range(3, 0, -1))


@case((2, 3), (5, 7))
def enumerate_in_python(x, y):
    return [i * v for i, v in enumerate([x, y], 1)]


@case((2, 3), (5, 7))
def zip_in_python(x, y):
    return [a * b for a, b in zip((x, y), (10, 20))]


@case((2, 3), (5, 7))
def map_and_filter_in_python(x, y):
    doubled = list(map(lambda v: v * 2, [x, y]))
    kept = list(filter(lambda k: k % 2, range(5)))
    return doubled, kept


@case((2, -3), (-5, 7))
def map_with_a_symbolic_branch(x, y):
    def positive(v):
        if v > 0:
            return v
        return 0

    a, b = map(positive, (x, y))
    return a * 10 + b


@case(2.567, -2.567)
def rounding(x):
    return round(x, 2)


@case((7, 3), (-7, 3))
def quotient_and_remainder(a, b):
    q, r = divmod(a, b)
    return q * 100 + r


@case((2, 3), (3, 2))
def powers(a, b):
    return pow(a, b), a**b


@case(1, "a", [1, 2], static=("x",))
def type_tests(x):
    return isinstance(x, int), isinstance(x, str | list), type(x).__name__, callable(x)


@case((1, "real"), (1, "nothing"))
def attribute_functions(x, name):
    class Box:
        real = 5

    box = Box()
    box.extra = x
    setattr(box, "other", 3)  # noqa: B010
    return hasattr(box, name), getattr(box, name, -1), getattr(box, "extra"), box.other  # noqa: B009


@case(3, 5)
def printed_at_tracing(x):
    print("tracing", end="")
    return x


@case((3, 4), (4, 3))
def containers_in_python(x, y):
    return list((x, y)), tuple([y, x]), dict(a=x, b=y)


@case(3, 5)
def next_of_an_iterator(x):
    it = iter([10, 20, 30])
    return next(it) + x, next(it) * x, next(iter([]), 7)


@case(2, 3)
def shadowed_builtin(x):
    def abs(v):
        return v * 100

    max = lambda a, b: a - b
    return abs(x), max(x, 1)


@case(2, -3)
def builtin_by_another_name(x):
    f = builtins.abs
    return f(x) + x


@case(2, -3)
def method_of_an_array_or_number(x):
    return x.__abs__() + 1


@case([3.0, 4.0], [6.0, 8.0])
def numpy_reductions(v):
    return np.sqrt(np.sum(np.square(v))), np.max(v), np.mean(v)


@case((1, 2), (-1, 2), raises=AssertionError)
def assertion(x, y):
    assert x > 0, "x must be positive"
    return x + y


@case((1, 2), (-1, 2), raises=AssertionError)
def assertion_without_a_message(x, y):
    assert x > 0
    return x + y


@case((1, True), (1, False), static=("fine",), raises=AssertionError)
def assertion_in_python(x, fine):
    assert fine, f"not fine: {fine}"
    return x


@case((1, True), (2, True), static=("fine",))
def message_is_made_only_on_failure(x, fine):
    assert fine, log("message")
    return x


@case((1, 5), (-1, 5), (1, -5), raises=AssertionError)
def assertion_in_a_branch(x, y):
    if x > 0:
        assert y > 0, "y must be positive"
    return x + y


@case((3, 5), (3, 1), (0, 1), raises=AssertionError)
def assertion_in_a_loop(n, limit):
    i = 0
    while i < n:
        assert i < limit, "too far"
        i += 1
    return i


@case((3, 5), (6, 5), raises=AssertionError)
def assertion_in_a_callee(n, limit):
    def checked(v):
        assert v < limit, "too large"
        return v * 2

    return checked(n)


@case(1, -1, raises=AssertionError)
def assertion_of_a_conjunction(x):
    assert x > 0 and x < 10, "out of range"  # noqa: PT018
    return x


@case((1, 2), (3, 4))
def stack_of_python_list(a, b):
    v = kg.stack([a, b])
    return v[0] + 10 * v[1]
