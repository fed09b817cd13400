"""The rest of the language: try, with, del, assignments, f-strings, comprehensions, generics."""

import contextlib

from tests.autograph.harness import case, log


class Noted(Exception):
    """An exception of the user's own."""


@contextlib.contextmanager
def noting(name):
    log(f"enter {name}")
    try:
        yield len(name)
    finally:
        log(f"leave {name}")


@case((4, 2), (4, 0), static=("d",))
def try_except(x, d):
    try:
        k = 6 // d
    except ZeroDivisionError:
        k = -1
    return x + k


@case((4, "a"), (4, "b"), (4, "c"))
def try_except_else_finally(x, key):
    try:
        k = {"a": 1, "b": "2"}[key]
        k + 1
    except KeyError:
        x = x + 10
    except TypeError as error:
        log(type(error).__name__)
        x = x + 20
    else:
        x = x + k
    finally:
        log("finally")
    return x


@case((4, True), (4, False), static=("wrong",), raises=Noted)
def raise_in_python(x, wrong):
    if wrong:
        raise Noted("as asked")
    return x + 1


@case((4, True), (4, False), static=("wrong",), raises=ValueError)
def raise_from(x, wrong):
    try:
        if wrong:
            raise KeyError("inner")
    except KeyError as error:
        raise ValueError("outer") from error
    return x


@case((4, True), (4, False), static=("wrong",))
def raise_in_a_callee(x, wrong):
    def risky(v):
        if wrong:
            raise Noted(v)
        return v

    try:
        y = risky(x) + 1
    except Noted:
        y = x * 100
    return y


@case((1,), (-1,), raises=ValueError, staged_raises=(ValueError, "negative"))
def raise_in_a_symbolic_branch(x):
    if x < 0:
        raise ValueError("negative")
    return x


@case((4, True), (4, False), static=("wrong",))
def reraise(x, wrong):
    try:
        try:
            if wrong:
                raise Noted(1)
        except Noted:
            log("seen")
            raise
    except Exception:
        x = x * 2
    return x


@case(3, -3)
def symbolic_branch_in_try(x):
    try:
        if x > 0:
            y = x
        else:
            y = -x
    except KeyError:
        y = 0
    return y


@case(3, 0)
def symbolic_loop_in_try_finally(n):
    s = 0
    try:
        while n > 0:
            s = s + n
            n = n - 1
    finally:
        s = s * 2
    return s


@case(3, -3)
def symbolic_branch_in_a_handler(x):
    try:
        raise Noted
    except Noted:
        if x > 0:
            y = 1
        else:
            y = 2
    return y


@case((3, True), (3, False), static=("wrong",))
def except_star(x, wrong):
    try:
        if wrong:
            raise ExceptionGroup("several", [KeyError(1), Noted(2)])
        x = x + 1
    except* KeyError:
        log("key")
        x = x + 10
    except* Noted:
        log("noted")
        x = x + 100
    return x


@case((3,), (4,))
def handler_name_is_unbound_afterwards(x):
    error = 5
    try:
        raise Noted
    except Noted as error:
        log(type(error).__name__)
    try:
        return x + error
    except UnboundLocalError:
        return -x


@case(3, -3)
def with_statement(x):
    with noting("abc") as n:
        if x > 0:
            y = x + n
        else:
            y = x - n
    return y


@case(3, -3)
def with_several_items(x):
    with noting("a") as a, noting("bb") as b:
        y = x * a + b
    return y


@case((3, 2), (0, 2))
def with_in_a_loop(n, x):
    i = 0
    while i < n:
        with contextlib.nullcontext(2) as k:
            x = x * k
        i += 1
    return x


@case((3, True), (3, False), static=("wrong",))
def with_that_suppresses(x, wrong):
    with contextlib.suppress(Noted):
        if wrong:
            raise Noted
        x = x + 1
    return x


@case(3, 4)
def deleted_variable(x):
    y = x + 1
    z = y * 2
    del y
    y = z + 1
    return y


@case(3, 4, raises=UnboundLocalError)
def deleted_and_used(x):
    y = x + 1
    if x is not None:
        del y
    return y


@case(3, 4)
def deleted_items(x):
    items = [x, 1, 2]
    d = {"a": x, "b": 1}
    del items[1], d["b"]
    return items, d


@case((7, 2), (-7, 3))
def augmented_assignments(a, b):
    x = a
    x += b
    x -= 1
    x *= 3
    x //= 2
    x %= 50
    return x


@case((7, 2), (9, 4))
def augmented_bit_operators(a, b):
    x = a
    x &= 13
    x |= b
    x ^= 3
    return x


@case((2.0, 3.0), (1.5, -2.0))
def augmented_float_operators(a, b):
    a /= b
    a **= 2
    a -= b
    return a


@case(((1, 2, 3, 4),), ((5, 6, 7),))
def starred_assignment(items):
    first, *middle, last = items
    return first * 10 + last + len(middle)


@case((1, 2, 3), (4, 5, 6))
def nested_unpacking(a, b, c):
    (p, [q, *r]), s = (a, [b, c, a]), c
    return p + 10 * q + 100 * r[0] + 1000 * s


@case((1, 2, 3), (3, 2, 1))
def swap_of_three(a, b, c):
    a, b, c = c, a, b
    if a > b:
        a, b = b, a
    return a, b, c


@case([1, 2], [4, 3])
def array_unpacked(v):
    a, b = v
    if a > b:
        a, b = b, a
    return a, b


@case((1, "a"), (2, "b"))
def f_strings(x, name):
    text = f"{name!r:>5}|{len(name):03d}|{'nested ' + f'{name}'}"
    log(text)
    return text, x


@case((3, [1, 2, 3]), (3, [1, 2, -3]), static=("items",))
def comprehensions(x, items):
    squares = [k * k * x for k in items if k > 0]
    table = {k: k * x for k in items}
    evens = {k % 2 for k in items}
    return squares, list(table.values()), sorted(evens), sum(k for k in items)


@case((2, 3), (5, 7))
def nested_comprehension(x, y):
    grid = [[i * x + j * y for j in range(2)] for i in range(3)]
    return [v for row in grid for v in row if True]


@case(2, -2)
def comprehension_with_a_symbolic_conditional(x):
    return [k if x > k else -k for k in range(3)]


@case(2, 5)
def comprehension_does_not_leak(x):
    k = 100
    values = [k for k in range(3)]
    return k + x, values


@case(1, 2)
def generator_expression(x):
    return sum(k * x for k in range(4) if k != 2), list(x + k for k in (1, 2))


@case((1, 2), (2, 1))
def generic_function(x, y):
    def first[T](a: T, b: T) -> T:
        return a if x > y else b

    return first(x, y)


@case(1, -1)
def type_alias(x):
    type Number = int | float

    def f(v: Number) -> Number:
        if v > 0:
            return v
        return v * 2

    return f(x)


@case(1, -1)
def semicolons_and_one_line_bodies(x):
    a = 1; b = 2  # fmt: skip # noqa: E702
    if x > 0: a = 3; b = x  # fmt: skip # noqa: E701, E702
    return a, b


@case(1, 2)
def pass_and_ellipsis(x):
    ...
    pass
    "a string as a statement"
    return x


@case(1, -1)
def import_inside(x):
    import math as m
    from operator import add

    if x > 0:
        return add(x, m.floor(2.5))
    return add(x, m.floor(3.5))


@case((1, True), (1, False), static=("debug",))
def printing(x, debug):
    if debug:
        print("value", end="")
    return x + 1


@case((3, 4), (4, 3))
def positions_over_lines(x, y):
    # fmt: off
    result = (
        x
        + y
        if x > y
        else (
            x
            - y
        )
    )
    # fmt: on
    return result
