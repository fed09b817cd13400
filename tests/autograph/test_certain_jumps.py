"""Jumps that are certain while the graph is built, under conditions that are Python's own.

What stands behind them is not reached, so it needs no variables. The programs are compiled as one
and compared with Python, on all ways.
"""

import numpy as np
from tests.autograph.refusals import refused

import kinetograph as kg

ON, OFF = True, False
POINTS = (1.0, 1.5, 2.5, 3.0, 4.5, 6.0)


def returned_in_one_branch(x, loops):
    if x > 2:
        if ON:
            return x + 1
    else:
        z = x * 2
    return z


def returned_in_all_branches(x, loops):
    if x > 2:
        if ON:
            return x + 1
    elif ON:
        z = x * 2
        return z
    return z


def returned_behind_returns(x, loops):
    c, p = 0.5, ON
    if ON:
        if x > 2:
            if x > 5:
                return c
        else:
            p = x < 1.2
            if ON:
                return c + 1
        if OFF:
            if p:
                return c + 2
        elif not p:
            c += 1
            return c
        else:
            return c + 3
    return c


def returned_in_a_match(x, loops):
    c, p = 0.5, ON
    match 0:
        case 0:
            if x > 2:
                if x > 5:
                    return c, p
            else:
                p = x < 1.2
                if ON:
                    return c, p
            if OFF:
                c += 1
                if p:
                    return c, p
            elif not p:
                p = OFF
                c += 1
                return c, p
            else:
                return c - 1, p
        case 1 | 2:
            pass
    return c, p


def reached_behind_returns(x, loops):
    if ON:
        if x > 2:
            if x > 5:
                return x
        elif ON:
            return x + 1
        if OFF:
            return x + 2
        elif x > 3.5:
            z = x + 3
        else:
            return x + 4
    return z


def unbound_behind_returns(x, loops):
    if ON:
        if x > 2:
            if x > 5:
                return x
        elif ON:
            return x + 1
        if OFF:
            if x > 3:
                return x
        elif x > 4:
            z = x + 2
            return z
        else:
            return x + 3
    return z


def jumps_of_several_kinds(x, loops):
    y = 0.5
    for i in loops(3):
        if ON:
            if x > 2:
                if x > 5:
                    break
            elif ON:
                return x
            if OFF:
                if x > 3:
                    break
            elif x > i + 3:
                z = x + 1
                return z
            else:
                return y + i
        y = y + z
    return y


def returned_from_an_endless_loop(x, loops):
    c = 0.5
    if ON:
        if OFF:
            z = x
        elif x > 2:
            while True:
                x = x + 1
                if x > 5:
                    return x
        else:
            c = c + 1
            z = c
            return z
    return c + z


def jumps_from_a_match(x, loops):
    n, y = 0, 0.5
    while n < 5:
        n = n + 1
        match ON:
            case True:
                if x > 2:
                    if x > 5:
                        continue
                elif ON:
                    break
                if x > 4:
                    z = x
                    return z + n
                else:
                    continue
        y = y + z
    else:
        y = y + 100
    return y


def jumps_out_of_two_loops(x, loops):
    n = 0
    y = 0.5
    for i in loops(4):
        for j in loops(3):
            n = n + 1
            if j == i - 1:
                continue
            if x > 3 + i + j:
                return n * 100 + y
            if x > 2 + i * j:
                break
        else:
            y = y + 0.25
            if x > i:
                continue
        if i > x:
            break
        y = y + n
    else:
        return y + 1000
    return y


def bound_in_the_else_of_a_loop(x, loops):
    for i in loops(3):
        if x > i + 2:
            return x
    else:
        z = x + 1
    return z


def bound_in_the_else_of_a_try(x, loops):
    try:
        if x > 2:
            return x
    except ValueError:
        z = x + 1
    else:
        z = x + 2
    return z


def bound_for_an_inner_function(x, loops):
    def inner():
        return z

    if x < 5:
        if x > 2:
            return x
        else:
            z = x + 1
    else:
        z = x + 2
    return inner()


def read_by_finally(x, loops):
    held = [x]
    return filled(held, x), held[0]


def filled(held, x):
    z = 1.0
    try:
        if x > 2:
            z = z + 1
            if ON:
                return x
        else:
            z = x
        z = z + 5
    finally:
        held[0] = z * 2
    return z


PROGRAMS = [
    returned_in_one_branch,
    returned_in_all_branches,
    returned_behind_returns,
    returned_in_a_match,
    reached_behind_returns,
    unbound_behind_returns,
    jumps_of_several_kinds,
    returned_from_an_endless_loop,
    jumps_from_a_match,
    jumps_out_of_two_loops,
    bound_in_the_else_of_a_loop,
    bound_in_the_else_of_a_try,
    bound_for_an_inner_function,
    read_by_finally,
]


def test_programs_do_what_python_does():
    staged = kg.function(lambda x: [program(x, kg.range) for program in PROGRAMS])
    for x in POINTS:
        for program, found in zip(PROGRAMS, staged(x), strict=True):
            expected, name = program(x, range), f"{program.__name__}({x})"
            np.testing.assert_array_equal(np.ravel(found), np.ravel(expected), name)


def test_a_variable_that_some_way_needs_is_refused():
    def of_a_branch(x):
        if x > 2:  # here
            if OFF:
                return x
        else:
            z = x
        return z

    def behind_returns(x):
        if ON:
            if x > 2:
                if x > 5:
                    return x
            elif ON:
                return x + 1
            if OFF:
                z = x
            elif x > 4:
                return x + 3
        return z  # here

    def behind_a_break(x):
        for _ in kg.range(3):
            if x > 2:
                break
        else:  # here
            z = x
        return z

    refused(ValueError, of_a_branch, (1.0,), "'z' must also be initialized in the main branch")
    refused(ValueError, behind_returns, (1.0,), "'z' is used before assignment", at="here")
    refused(ValueError, behind_a_break, (1.0,), "'z' must also be initialized", at=None)
