"""`break` in both loops, nested, in `with` and `try`."""

import contextlib

from tests.autograph.harness import case, log

import kinetograph as kg


@case((10, 4), (3, 4), (0, 4))
def break_in_a_while(n, limit):
    i = 0
    while i < n:
        if i == limit:
            break
        i += 1
    return i


@case((10, 4), (3, 4), (0, 4))
def break_in_a_for(n, limit):
    s = 0
    for i in kg.range(n):
        if i == limit:
            break
        s = s + i
    return s


@case(([1, 2, 3, 4], 3), ([1, 2, 3, 4], 9), ([1, 2, 3, 4], 1))
def break_over_rows(v, stop):
    s = 0
    for x in v:
        if x == stop:
            break
        s = s + x
    return s


@case(10, 3, 0)
def break_at_once(n):
    s = 0
    for i in kg.range(n):
        s = s + 1 + i
        break
    return s


@case((10, 3), (10, 0), (2, 5))
def code_after_the_break(n, k):
    s = 0
    i = 0
    while i < n:
        i += 1
        if i > k:
            break
        s += i
        s *= 2
    s += 1000
    return s


@case((10, 20), (10, 3), (2, 20))
def two_breaks(n, limit):
    s = 0
    for i in kg.range(n):
        if i > 6:
            break
        s = s + i
        if s > limit:
            break
        s = s + 1
    return s


@case((10, 3), (1, 3), (10, 12))
def break_in_the_else_branch(n, k):
    i = 0
    while i < n:
        if i < k:
            i += 1
        else:
            break
    return i


@case((10, 3), (10, 7), (2, 3))
def break_in_an_elif(n, k):
    s, i = 0, 0
    while i < n:
        if i == 2:
            s += 100
        elif i == k:
            break
        else:
            s += 1
        i += 1
    return s


@case((10, 3, 1), (10, 3, 0), (10, 20, 1))
def break_in_a_nested_if(n, k, enabled):
    i = 0
    while i < n:
        if i > k:
            if enabled > 0:
                break
        i += 1
    return i


@case((4, 2), (4, 0), (4, 9))
def break_of_the_inner_loop(n, k):
    s = 0
    for i in kg.range(n):
        for j in kg.range(n):
            if j == k:
                break
            s = s + i * j + 1
    return s


@case((4, 2), (4, 0), (4, 9))
def break_of_the_outer_loop(n, k):
    s = 0
    for i in kg.range(n):
        for j in kg.range(3):
            s = s + i * j + 1
        if i == k:
            break
    return s


@case((5, 7), (5, 2), (5, 100))
def break_of_both_loops(n, limit):
    s, i = 0, 0
    while i < n:
        j = 0
        while j < n:
            s += 1
            if s % 4 == 0:
                break
            j += 1
        if s > limit:
            break
        i += 1
    return s, i


@case((5, 3), (5, 9))
def break_with_an_update_first(n, k):
    s, i = 0, 0
    while i < n:
        if i == k:
            s = -1
            break
        s += i
        i += 1
    return s


@case((5, 3), (5, 9))
def flag_set_before_break(n, k):
    found = False
    for i in kg.range(n):
        if i == k:
            found = True
            break
    return found


@case((8, 3), (3, 3), (8, 0))
def break_by_a_conjunction(n, k):
    s = 0
    for i in kg.range(n):
        if i > k and s > 5:
            break
        s = s + i
    return s


@case(5, 20)
def python_break_in_a_python_loop(x):
    for i in range(10):
        if i == 3:
            break
        x = x + i
    return x


@case(2, -1, 9)
def symbolic_break_in_a_python_loop(x):
    s = 0
    for i in range(4):
        if i > x:
            break
        s += i
    return s


@case((5, True), (5, False), static=("early",))
def python_break_in_a_symbolic_loop(n, early):
    s = 0
    for i in kg.range(n):
        s = s + i
        if early:
            break
    return s


@case((6, 3), (6, 9))
def break_in_with(n, k):
    s = 0
    for i in kg.range(n):
        with contextlib.nullcontext():
            if i == k:
                break
            s = s + i
    return s


@case((6, 3), (6, 9))
def break_in_try(n, k):
    s = 0
    for i in kg.range(n):
        try:
            if i == k:
                break
            s = s + i
        finally:
            s = s + 100
    return s


@case(6, 3)
def break_in_an_exception_handler(n):
    done = []
    for i in range(5):
        try:
            if i == 3:
                raise KeyError(i)
            done.append(i)
        except KeyError:
            break
    return n + len(done)


@case((3, "stop"), (3, "go"))
def logged_around_a_python_break(x, what):
    for i in range(4):
        log(i)
        if what == "stop" and i == 1:
            log("stop")
            break
        x = x + i
    return x
