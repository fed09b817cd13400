"""`for`/`else` and `while`/`else`."""

from tests.autograph.harness import case, log

import kinetograph as kg


@case((5, 3), (5, 9), (0, 0))
def while_else(n, k):
    i = 0
    while i < n:
        if i == k:
            break
        i += 1
    else:
        i = -1
    return i


@case((5, 3), (5, 9), (0, 0))
def for_else(n, k):
    found = 0
    for i in kg.range(n):
        if i == k:
            found = 1
            break
    else:
        found = -1
    return found


@case(([4, 5, 6], 5), ([4, 5, 6], 7), ([4, 5, 6], 4))
def for_else_over_rows(v, wanted):
    place = 0
    for x in v:
        if x == wanted:
            break
        place += 1
    else:
        place = -1
    return place


@case(3, 0)
def while_else_without_break(n):
    s = 0
    while n > 0:
        s += n
        n -= 1
    else:
        s += 100
    return s


@case(3, 0)
def for_else_without_break(n):
    s = 0
    for i in kg.range(n):
        s += i
    else:
        s += 100
    return s


@case(6, 3, 0)
def for_else_with_continue(n):
    s = 0
    for i in kg.range(n):
        if i % 2 == 0:
            continue
        s += i
    else:
        s += 100
    return s


@case((6, 3), (6, 4), (6, 10))
def for_else_with_break_and_continue(n, k):
    s = 0
    for i in kg.range(n):
        if i % 2 == 0:
            continue
        if i == k:
            break
        s += i
    else:
        s += 100
    return s


@case((6, 3), (6, 4), (6, 10))
def while_else_with_break_and_continue(n, k):
    s, i = 0, 0
    while i < n:
        i += 1
        if i % 2 == 0:
            continue
        if i == k:
            break
        s += i
    else:
        s = -s
    return s


@case((6, 3), (6, 10), (0, 0))
def return_in_the_body_of_for_else(n, k):
    for i in kg.range(n):
        if i == k:
            return i * 10
    else:
        return -1


@case((6, 3), (6, 10), (0, 0))
def return_in_the_body_of_while_else(n, k):
    i = 0
    while i < n:
        if i == k:
            return i * 10
        i += 1
    else:
        n = -5
    return n


@case((6, 3), (6, 10))
def return_in_the_else_clause(n, k):
    s = 0
    for i in kg.range(n):
        if i == k:
            break
        s += i
    else:
        return -s
    return s + 1000


@case((4, 5), (4, 9), (2, 1))
def nested_for_else(n, k):
    count = 0
    for i in kg.range(n):
        for j in kg.range(n):
            if i + j == k:
                break
        else:
            count += 1
    else:
        count += 100
    return count


@case((5, 3), (5, 100), (0, 3))
def else_of_the_outer_loop_after_inner_break(n, limit):
    s = 0
    for i in kg.range(n):
        for j in kg.range(i):
            if j > 1:
                break
            s += 1
        if s > limit:
            break
    else:
        s = -s
    return s


@case((4, 2), (4, 7))
def break_of_the_outer_loop_in_an_else_clause(n, k):
    i, s = 0, 0
    while i < n:
        for j in kg.range(3):
            if j + i == k:
                break
            s += 1
        else:
            break
        i += 1
    return i, s


@case((4, 2), (4, 7))
def continue_of_the_outer_loop_in_an_else_clause(n, k):
    s = 0
    for i in kg.range(n):
        for j in kg.range(3):
            if j + i == k:
                break
        else:
            continue
        s += 1 + i
    return s


@case((5, 3), (5, 9))
def variable_set_in_break_and_else(n, k):
    i = 0
    while i < n:
        if i == k:
            kind = 1
            break
        i += 1
    else:
        kind = 2
    return kind


@case((5, 3), (5, 9))
def loop_in_an_else_clause(n, k):
    s = 0
    for i in kg.range(n):
        if i == k:
            break
    else:
        for j in kg.range(n):
            s += j
    return s


@case((5, 3), (5, 9))
def branch_in_an_else_clause(n, k):
    i = 0
    while i < n:
        if i == k:
            break
        i += 2
    else:
        if n > k:
            i = 50
        else:
            i = 70
    return i


@case((3, 3), (3, 1))
def python_for_else(x, k):
    for i in (1, 2, 3, 4):
        x = x + i
    else:
        x = x * k
    return x


@case((3, 3), (3, 9), static=("k",))
def python_for_else_with_break(x, k):
    for i in range(5):
        if i == k:
            log("break")
            break
        x = x + i
    else:
        log("else")
        x = -x
    return x


@case((3, 3), (3, 9), static=("k",))
def python_while_else_with_break(x, k):
    i = 0
    while i < 5:
        if i == k:
            break
        x = x + i
        i += 1
    else:
        x = -x
    return x


@case((2, 3), (2, 9), static=("k",))
def python_return_in_for_else(x, k):
    for i in range(5):
        if i == k:
            return x * 10
    else:
        x = x + 1
    return -x


@case(17, 18, 2)
def is_prime(n):
    for d in kg.range(2, n):
        if n % d == 0:
            prime = False
            break
    else:
        prime = True
    return prime


@case(20, 10, 2)
def count_primes(n):
    count = 0
    for i in kg.range(2, n):
        d = 2
        while d * d <= i:
            if i % d == 0:
                break
            d += 1
        else:
            count += 1
    return count


@case((1.0, 5.0, 5), (1.0, 500.0, 5), (1.0, 5.0, 0))
def float_while_else(x, limit, n):
    trips = 0
    while trips < n:
        x = x * 2.5
        trips += 1
        if x > limit:
            break
    else:
        x = -x
    return x, trips
