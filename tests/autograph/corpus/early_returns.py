"""`return` before the end: in branches, in loops, in with and try."""

import contextlib

from tests.autograph.harness import case

import kinetograph as kg


@case(1, -1)
def in_a_branch(x):
    if x > 0:
        return x + 1
    return x - 1


@case(1, -1)
def in_both_branches(x):
    if x > 0:
        return x + 1
    else:
        return x - 1


@case(3, 0, -3)
def in_an_elif_chain(x):
    if x > 0:
        return 1
    elif x < 0:
        return -1
    else:
        return 0


@case(3, 0, -3)
def guards(x):
    if x > 0:
        return 1
    if x < 0:
        return -1
    return 0


@case((1, 1), (1, -1), (-1, 1), (-1, -1))
def in_nested_branches(x, y):
    if x > 0:
        if y > 0:
            return 1
        else:
            return 2
    else:
        if y > 0:
            return 3
    return 4


@case((1, 1), (1, -1), (-1, 1), (-1, -1))
def with_code_between(x, y):
    z = 0
    if x > 0:
        z += 10
        if y > 0:
            return z
        z += 1
    z *= 2
    if y < 0:
        return z + 100
    return z + 1000


@case(1, -1)
def variables_after_the_return(x):
    if x > 0:
        return x
    y = x * 2
    z = y + 1
    return z


@case(7, 3, 1, 0)
def in_a_while(x):
    i = 0
    while i < x:
        if i > 3:
            return i
        i += 1
    return i


@case(7, 3, 1, 0)
def other_values_in_a_while(x):
    i = 0
    while i < x:
        if i > 3:
            return i * 100
        i += 1
    return -i


@case((10, 4), (3, 4), (0, 4))
def in_a_for(n, k):
    for i in kg.range(n):
        if i == k:
            return i + 100
    return -1


@case(([1, 2, 3], 2), ([1, 2, 3], 9), ([1, 2, 3], 1))
def over_rows(v, wanted):
    place = 0
    for x in v:
        if x == wanted:
            return place
        place += 1
    return -1


@case((4, 5), (4, 9), (0, 0))
def in_nested_loops(n, k):
    for i in kg.range(n):
        for j in kg.range(n):
            if i * j + i + j == k:
                return i * 10 + j
    return -1


@case((4, 5), (4, 9), (2, 0))
def in_the_outer_of_nested_loops(n, k):
    s = 0
    for i in kg.range(n):
        for j in kg.range(i):
            s += j + 1
        if s > k:
            return s
    return -s


@case((4, 5), (4, 9), (2, 0))
def in_nested_whiles_with_code_after(n, k):
    s, i = 0, 0
    while i < n:
        j = 0
        while j < n:
            s += 1
            if s == k:
                return -s
            j += 1
        s += 1
        i += 1
    s *= 2
    return s


@case((9, 4, 6), (9, 8, 3), (3, 8, 8))
def two_in_one_loop(n, a, b):
    for i in kg.range(n):
        if i == a:
            return 1
        if i == b:
            return 2
    return 3


@case((9, 4, 6), (9, 8, 3), (3, 8, 8))
def with_break(n, a, b):
    s = 0
    for i in kg.range(n):
        if i == a:
            break
        if i == b:
            return -s
        s += i
    return s + 1000


@case((9, 4), (9, 20), (1, 0))
def with_continue(n, a):
    s = 0
    for i in kg.range(n):
        if i % 2 == 0:
            continue
        s += i
        if s > a:
            return s * 100
    return s


@case((5, 1), (5, -1))
def in_a_loop_in_a_branch(n, x):
    if x > 0:
        for i in kg.range(n):
            if i > 2:
                return i
    return -1


@case((1, True), (1, False), (-1, True), static=("early",))
def python_condition(x, early):
    if early:
        return x * 2
    if x > 0:
        x = x + 10
    return x


@case((1, True), (-1, True), (1, False), (-1, False), static=("early",))
def python_return_in_a_symbolic_branch(x, early):
    if x > 0:
        if early:
            return x * 2
    return x - 1


@case((4, 3), (4, 9), static=("k",))
def python_return_in_a_python_loop(x, k):
    for i in range(5):
        x = x + i
        if i == k:
            return x
    return -x


@case(2, -1, 3)
def symbolic_return_in_a_python_loop(x):
    for i in range(4):
        if i > x:
            return i
    return -1


@case(1, -1)
def in_with(x):
    with contextlib.nullcontext():
        if x > 0:
            return x * 2
        x = x - 1
    return x * 3


@case(1, -1)
def in_try(x):
    try:
        if x > 0:
            return x * 2
        x = x - 1
    finally:
        x = x + 100
    return x


@case((6, 3), (6, 9))
def in_with_in_a_loop(n, k):
    s = 0
    for i in kg.range(n):
        with contextlib.nullcontext():
            if i == k:
                return s
            s = s + i
    return -s


@case(1, -1)
def in_a_nested_function(x):
    def inner(y):
        if y > 0:
            return y * 2
        return y * 3

    if x > 0:
        return inner(x) + 1
    return inner(x) - 1


@case((5, 3), (5, 9), (0, 0))
def in_both_a_loop_and_after_it(n, k):
    s = 0
    while s < n:
        s += 1
        if s == k:
            return s
    if s > 2:
        return s * 10
    return s * 100


@case((10, 3), (10, 11), (2, 9))
def in_every_place(n, k):
    if n < 3:
        return -1
    for i in kg.range(n):
        if i == k:
            if n > 5:
                return i
            return i * 2
    else:
        n = n + 1
    if n > 20:
        return 20
    return n


@case((4, 6), (4, 5), (1, 0))
def of_three_nested_loops(n, k):
    for a in kg.range(n):
        for b in kg.range(a):
            for c in kg.range(b):
                if a + b + c == k:
                    return a * 100 + b * 10 + c
    return -1


@case(6.0, 1.0, -1.0)
def bound_where_it_goes_on(x):
    if x > 0:
        if x > 5:
            return 1.0
        y = x * 2
    else:
        y = x * 3
    return y


@case(8.0, 6.0, 1.0, -1.0, -2.5, -7.0)
def returns_at_all_depths(x):
    if x > 0:
        if x > 5:
            if x > 7:
                return 2.0
            z = 3.0
        else:
            z = x
        y = x * 2 + z
    else:
        if x < -3:
            return -4.0
        elif x < -2:
            y = x * 3
        else:
            return 0.0
    return y


@case(6.0, 1.0, -1.0)
def none_until_it_is_bound(x):
    best = None
    if x > 0:
        if x > 5:
            return 1.0
        best = x * 2
    else:
        best = x * 3
    return best


@case(6.0, 3.5, 1.0, -1.0)
def return_in_a_loop_in_a_branch(x):
    if x > 0:
        for i in kg.range(3):
            if x > i + 3:
                return i * 1.0
        y = x * 2
    else:
        y = x * 3
    return y


@case(6.0, 1.0, -1.0, raises=UnboundLocalError)
def finally_reads_what_a_return_left_unbound(x):
    try:
        if x > 0:
            if x > 5:
                return 1.0
            y = x * 2
        else:
            y = x * 3
    finally:
        z = y
    return y + z


@case(1.0, 5.0, raises=UnboundLocalError)
def break_before_it_is_bound(x):
    while True:
        if x > 3:
            break
        y = x * 2
        x = x + 1
    return y


@case(3.0, -1.0)
def with_that_swallows_the_end_of_a_return(x):
    y = x * 2
    with contextlib.suppress(ZeroDivisionError):
        return y + 1 // 0
    if x > 0:
        y = y + 1
    return y
