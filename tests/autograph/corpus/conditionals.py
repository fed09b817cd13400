"""`if`, `elif`, `else`, nested; conditions made with and, or, not."""

import math

from tests.autograph.harness import case, log


@case(1, -1, 0)
def magnitude(x):
    if x < 0:
        x = -x
    return x


@case(2.5, -2.5, 0.0)
def magnitude_of_a_float(x):
    if x < 0.0:
        x = -x
    return x


@case(1, -1, 0)
def both_branches(x):
    if x > 0:
        y = x + 1
    else:
        y = x - 1
    return y


@case(3, 0, -3)
def sign_by_elif(x):
    if x > 0:
        s = 1
    elif x < 0:
        s = -1
    else:
        s = 0
    return s


@case(95, 85, 75, 10, 90)
def many_elifs(score):
    if score >= 90:
        grade = 4
    elif score >= 80:
        grade = 3
    elif score >= 70:
        grade = 2
    elif score >= 60:
        grade = 1
    else:
        grade = 0
    return grade


@case(5, 2, 0)
def elif_without_else(x):
    y = 0
    if x > 3:
        y = 10
    elif x > 1:
        y = 20
    return y


@case((1, 1), (1, -1), (-1, 1), (-1, -1))
def nested(x, y):
    if x > 0:
        if y > 0:
            quadrant = 1
        else:
            quadrant = 4
    else:
        if y > 0:
            quadrant = 2
        else:
            quadrant = 3
    return quadrant


@case((1, 1), (1, -1), (-1, 1))
def nested_without_else(x, y):
    n = 0
    if x > 0:
        n += 1
        if y > 0:
            n += 10
    return n


@case((1, 2, 3), (1, 3, 2), (-1, 2, 3), (-1, -2, 3), (-1, -2, -3))
def three_deep(a, b, c):
    r = 0
    if a > 0:
        if b > c:
            r = b
        else:
            r = c
    else:
        r = 100
        if b > 0:
            r += 1
        elif c > 0:
            r += 2
        else:
            r += 3
    return r


@case((3, 5), (5, 3), (4, 4))
def swap_in_a_branch(a, b):
    if a > b:
        a, b = b, a
    return a, b


@case((1, 2.5), (-1, 2.5))
def several_types_at_once(n, x):
    flag = False
    if n > 0:
        n = n * 2
        x = x / 2
        flag = True
    return n, x, flag


@case(1, -1)
def consecutive(x):
    y = 0
    if x > 0:
        y += 1
    if y > 0:
        y += 10
    if x < 0:
        y -= 100
    return y


@case(1, -1)
def condition_kept_in_a_variable(x):
    positive = x > 0
    if positive:
        x = x * 3
    return x, positive


@case((True,), (False,))
def boolean_argument(flag):
    if flag:
        n = 1
    else:
        n = 2
    return n


@case((True, False), (False, True), (True, True), (False, False))
def two_flags(p, q):
    n = 0
    if p and not q:
        n = 1
    elif q and not p:
        n = 2
    elif p or q:
        n = 3
    return n


@case(5, 15, -5)
def interval_by_and(x):
    inside = 0
    if x > 0 and x < 10:
        inside = 1
    return inside


@case(5, 15, -5)
def interval_by_chain(x):
    inside = 0
    if 0 < x < 10:
        inside = 1
    return inside


@case((1, 0), (0, 1), (0, 0))
def either(a, b):
    n = 0
    if a > 0 or b > 0:
        n = a + b
    return n


@case(0, 1)
def negated(x):
    if not x == 0:
        y = 5
    else:
        y = 7
    return y


@case((1, 1, 0), (1, 0, 1), (0, 1, 1), (0, 0, 0))
def mixed_logic(a, b, c):
    if a > 0 and (b > 0 or c > 0) and not (b > 0 and c > 0):
        return 1
    else:
        return 0


@case(1, -1)
def pass_in_a_branch(x):
    y = 3
    if x > 0:
        pass
    else:
        y = 4
    return y


@case(1, -1)
def both_pass(x):
    if x > 0:
        pass
    else:
        pass
    return x


@case(1, -1)
def expression_statements(x):
    if x > 0:
        x + 1
    else:
        x - 1
    return x


@case(1, -1, staged_log=["before", "true", "false", "after"])
def both_branches_are_traced_once(x):
    log("before")
    if x > 0:
        log("true")
        y = 1
    else:
        log("false")
        y = 2
    log("after")
    return y


@case((3, 1), (3, 0), static=("mode",), staged_log=["true"])
def python_condition_traces_one_branch(x, mode):
    if mode:
        log("true")
        x += 1
    else:
        log("false")
        x -= 1
    return x


@case((2, "double"), (2, "square"), (2, "other"))
def string_condition(x, kind):
    if kind == "double":
        y = 2 * x
    elif kind == "square":
        y = x * x
    else:
        y = x
    return y


@case((2, "up"), (-2, "up"), (2, "down"), (-2, "down"))
def python_if_around_a_symbolic_one(x, direction):
    if direction == "up":
        if x > 0:
            y = x + 1
        else:
            y = x + 2
    else:
        y = -x
    return y


@case((2, "up"), (-2, "up"), (2, "down"), (-2, "down"))
def symbolic_if_around_a_python_one(x, direction):
    y = 0
    if x > 0:
        if direction == "up":
            y = 1
        else:
            y = 2
    return y


@case([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0])
def vector_in_the_branches(v):
    total = sum(v)
    if total > 0:
        out = [x * 2 for x in (total, total + 1)]
    else:
        out = [total, total]
    return out


@case((1.0, 2.0), (2.0, 1.0), (2.0, 2.0))
def comparisons_of_floats(a, b):
    n = 0
    if a < b:
        n += 1
    if a <= b:
        n += 10
    if a == b:
        n += 100
    if a != b:
        n += 1000
    if a >= b:
        n += 10000
    if a > b:
        n += 100000
    return n


@case(7, 8)
def odd_or_even(n):
    if n % 2 == 0:
        n //= 2
    else:
        n = 3 * n + 1
    return n


@case(4, 100, 1900, 2000, 2023)
def leap_year(y):
    if y % 400 == 0:
        leap = True
    elif y % 100 == 0:
        leap = False
    elif y % 4 == 0:
        leap = True
    else:
        leap = False
    return leap


@case((3, 1, 2), (1, 2, 3), (2, 3, 1))
def sort_three(a, b, c):
    if a > b:
        a, b = b, a
    if b > c:
        b, c = c, b
    if a > b:
        a, b = b, a
    return a, b, c


@case(1, -1)
def unchanged_by_an_untaken_branch(x):
    kept = x * 7
    if x > 0:
        other = kept + 1
    else:
        other = kept - 1
    return kept, other


@case([2, 3], [3, 2], [0, 0])
def elements_of_an_array(v):
    if v[0] > v[1]:
        largest = v[0]
    else:
        largest = v[1]
    return largest


@case(1, 0, -0.0, math.nan)
def condition_that_is_a_number(x):
    y = 0
    if x:
        y = 1
    return y


@case((0.5, 4), (2.0, 4))
def integer_and_float_together(x, n):
    if x < 1:
        r = x * n
    else:
        r = x + n
    return r
