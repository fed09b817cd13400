"""Loop targets, shadowing, closures over loop variables, names used again."""

# ruff: noqa: B007

from tests.autograph.harness import case

import kinetograph as kg


@case(4, 1)
def two_loops_with_one_target(n):
    s = 0
    for i in kg.range(n):
        s += i
    for i in kg.range(2):
        s = s * 10 + i
    return s, i


@case(4, 1)
def target_is_rebound_in_the_body(n):
    s = 0
    for i in kg.range(n):
        i = i * 10
        s += i
    return s, i


@case((4, 9), (1, 9))
def target_shadows_an_argument(n, i):
    before = i
    for i in kg.range(n):
        pass
    return before, i


@case((4, 9), (1, 9))
def bound_is_rebound_in_the_body(n, m):
    for i in kg.range(n):
        n = m
        m = m + i
    return n, m


@case(([[1, 2], [3, 4]],), ([[5, 6], [7, 8]],))
def unpacked_target_after_the_loop(t):
    for a, b in t:
        pass
    return a * 10 + b


@case(3, 5)
def attribute_as_a_target(n):
    class Box:
        pass

    box = Box()
    s = 0
    for box.i in range(3):
        s = s + box.i * n
    return s, box.i


@case(3, 5)
def item_as_a_target(n):
    d = {}
    s = 0
    for d["i"] in (1, 2):
        s = s + d["i"] * n
    return s, d


@case(3, 0)
def reused_after_the_loop(n):
    x = 1
    while n > 0:
        x = x * 2
        n -= 1
    y = x
    x = 7
    return x, y


@case(3, 0)
def reused_between_loops(n):
    x = 0
    for i in kg.range(n):
        x = x + i
    x = x * 2
    for i in kg.range(n):
        x = x + 1
    return x


@case((3, 1), (3, -1))
def local_of_a_branch_and_of_a_loop(n, flag):
    s = 0
    if flag > 0:
        step = 2
    else:
        step = 3
    while n > 0:
        step_now = step * n
        s += step_now
        n -= 1
    return s, step


@case(3, 0)
def shadowed_in_a_lambda(n):
    i = 100
    f = lambda i: i + 1
    s = 0
    for k in kg.range(n):
        s = s + f(k)
    return s, i


@case(3, 0)
def shadowed_in_a_nested_function(n):
    s = 5

    def f(n):
        s = n * 2
        return s

    while n > 0:
        s = s + f(n)
        n -= 1
    return s


@case(3, 0)
def shadowed_in_a_comprehension(n):
    i = 0
    s = 0
    while i < n:
        s = s + sum([i * 2 for i in range(3)])
        i += 1
    return s, i


@case(3, 5)
def closure_over_a_loop_variable(n):
    s = 0
    for i in kg.range(n):

        def weight(k):
            return k * i + 1

        s = s + weight(2)
    return s


@case(3, 5)
def closures_see_the_last_python_value(x):
    functions = []
    for i in range(3):
        functions.append(lambda v: v + i)
    return [f(x) for f in functions]


@case(3, 5)
def closures_bind_by_default(x):
    functions = [lambda v, i=i: v * i for i in range(3)]
    return [f(x) for f in functions]


@case(3, 0)
def nonlocal_in_a_loop(n):
    s = 0

    def add(v):
        nonlocal s
        s = s + v

    for i in range(3):
        add(n + i)
    return s


@case(4, 0)
def function_defined_in_a_symbolic_loop(n):
    i, s = 0, 1
    while i < n:
        f = lambda v: v * 2 if v < 10 else v - 3
        s = f(s)
        i += 1
    return s


@case((3, 2), (3, -2))
def loop_variable_unused(n, x):
    for _ in kg.range(n):
        x = x * 2
    return x


@case(3, 6)
def python_container_read_in_a_symbolic_loop(n):
    weights = {"a": 2, "b": 3}
    s = 0
    while n > 0:
        for key in weights:
            s = s + weights[key] * n
        n -= 1
    return s
