"""What an early `return` gives: structures, floats, None, nothing, types that differ."""

import numpy as np
from tests.autograph.harness import case, log

import kinetograph as kg


@case((np.array([[1.0, 2.0], [3.0, 4.0]]), 3.0), (np.array([[1.0, 2.0], [3.0, 4.0]]), 9.0))
def row_found(t, first):
    for row in t:
        if row[0] == first:
            return row * 2
    return t[0] * 0


@case((1, 2), (-1, 2))
def a_tuple(x, y):
    if x > 0:
        return x, y
    return y, x


@case((1, 2), (-1, 2))
def a_list(x, y):
    if x > 0:
        return [x, y]
    return [y, x]


@case((1, 2), (-1, 2))
def a_dict(x, y):
    if x > 0:
        return {"a": x, "b": y}
    return {"a": y, "b": x}


@case((1, 2), (-1, 2))
def a_nested_structure(x, y):
    if x > 0:
        return {"a": (x, [y])}
    return {"a": (y, [x])}


@case((6, 3), (6, 9))
def a_tuple_from_a_loop(n, k):
    s = 0
    for i in kg.range(n):
        if i == k:
            return i, s
        s += i
    return -1, s


@case((6, 3), (6, 9))
def a_dict_from_a_loop(n, k):
    i = 0
    while i < n:
        if i == k:
            return {"found": True, "place": i}
        i += 1
    return {"found": False, "place": -1}


@case((6, 3), (6, 9))
def a_float_from_a_loop(n, k):
    for i in kg.range(n):
        if i == k:
            return i * 0.5
    return -1.0


@case((6, 3), (6, 9))
def a_boolean_from_a_loop(n, k):
    for i in kg.range(n):
        if i == k:
            return True
    return False


@case(1, 2)
def nothing(x):
    x = x + 1
    log(None)


@case((1,), (-1,))
def bare_return(x):
    if x > 0:
        return
    log("not reached when positive")
    return


@case(1, 3)
def none_on_purpose(x):
    return None if x is None else [None, x]


@case(1, staged_raises=(ValueError, "(?s)else branch.*return|return.*else branch"))
def no_value_on_one_path(x):
    if x > 0:
        return x


@case(1, staged_raises=(ValueError, "(?s)else branch.*return|return.*else branch"))
def none_on_one_path(x):
    if x > 0:
        return x
    else:
        return None


@case(3, staged_raises=(ValueError, "return"))
def no_value_after_a_loop(n):
    for i in kg.range(n):
        if i == 2:
            return i


@case(1, -1)
def of_a_conditional_expression(x):
    if x > 10:
        return 0
    return x + 1 if x > 0 else x - 1


@case(np.array([1, 2]), np.array([-1, 2]))
def of_an_array(v):
    if v[0] > 0:
        return v * 2
    return v - 1


@case(1, -1)
def unreachable_code_after(x):
    if x > 0:
        return 1
        x = 5
    return 2


@case(1, staged_raises=(TypeError, "dtype"))
def types_that_differ(x):
    if x > 0:
        return x
    return x * 0.5


@case((1, 2), staged_raises=(TypeError, "structure"))
def structures_that_differ(x, y):
    if x > 0:
        return x, y
    return x
