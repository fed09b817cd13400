"""`while` with symbolic and Python conditions."""

from tests.autograph.harness import case, log


@case(5, 1, 0, -3)
def count_down(n):
    steps = 0
    while n > 0:
        n = n - 1
        steps = steps + 1
    return steps


@case(10, 1, 0)
def sum_below(n):
    i, total = 0, 0
    while i < n:
        total += i
        i += 1
    return total


@case(7, 1, 27, 6)
def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


@case((48, 36), (7, 3), (5, 0), (0, 5))
def greatest_common_divisor(a, b):
    while b != 0:
        a, b = b, a % b
    return a


@case((2, 10), (3, 0), (5, 3))
def power_by_squaring(base, n):
    result = 1
    while n > 0:
        if n % 2 == 1:
            result = result * base
        base = base * base
        n = n // 2
    return result


@case(2.0, 1.0, 9.0)
def square_root_by_newton(a):
    x = a
    error = abs(x * x - a)
    while error > 1e-9:
        x = 0.5 * (x + a / x)
        error = abs(x * x - a)
    return x


@case((1.0, 2.0), (100.0, 2.0), (50.0, 3.0))
def grow_until(x, w):
    trips = 0
    while x < 100:
        x *= w
        trips += 1
    return x, trips


@case(6, 1, 0)
def fibonacci(n):
    a, b = 0, 1
    while n > 0:
        a, b = b, a + b
        n -= 1
    return a


@case((3, 4), (0, 4), (3, 0))
def nested(n, m):
    i, total = 0, 0
    while i < n:
        j = 0
        while j < m:
            total += i * j + 1
            j += 1
        i += 1
    return total


@case(5, 1, 0)
def triangular_nest(n):
    total, i = 0, 0
    while i < n:
        j = 0
        while j < i:
            total += j
            j += 1
        i += 1
    return total


@case((2, 2, 2), (0, 2, 2), (2, 0, 3))
def three_deep(a, b, c):
    count, i = 0, 0
    while i < a:
        j = 0
        while j < b:
            k = 0
            while k < c:
                count += 1
                k += 1
            j += 1
        i += 1
    return count


@case((3, 4), (0, 0), (5, 1))
def one_after_the_other(n, m):
    total = 0
    while n > 0:
        total += n
        n -= 1
    while m > 0:
        total *= 2
        m -= 1
    return total


@case((5, 3), (-5, 3), (5, -3))
def loop_in_a_branch(x, n):
    y = 0
    if x > 0:
        while n > 0:
            y += x
            n -= 1
    else:
        y = -1
    return y


@case(9, 4, 0)
def branch_in_a_loop(n):
    odd, even = 0, 0
    while n > 0:
        if n % 2 == 1:
            odd += n
        else:
            even += n
        n -= 1
    return odd, even


@case((3, 9), (9, 3), (4, 4))
def conjunction_in_the_test(a, b):
    steps = 0
    while a > 0 and b > 0:
        a -= 1
        b -= 2
        steps += 1
    return a, b, steps


@case((3, 9), (9, 3), (0, 0))
def disjunction_in_the_test(a, b):
    steps = 0
    while a > 0 or b > 0:
        a -= 1
        b -= 2
        steps += 1
    return steps


@case(5, 0)
def negation_in_the_test(n):
    i = 0
    while not i >= n:
        i += 2
    return i


@case(5, 20, 0)
def chain_in_the_test(n):
    while 0 < n < 10:
        n += 3
    return n


@case(5, 0)
def test_by_a_flag(n):
    going = n > 0
    total = 0
    while going:
        total += n
        n -= 1
        going = n > 2
    return total


@case(5, 2, -1)
def test_by_a_call(n):
    def more(k):
        return k * k > 4

    while more(n):
        n -= 1
    return n


@case(4, 7)
def python_condition(x):
    i = 0
    while i < 3:
        x = x * 2
        i += 1
    return x, i


@case((4, 3), (4, 0), static=("n",), staged_log=[3, 2, 1])
def python_condition_is_unrolled(x, n):
    while n > 0:
        log(n)
        x = x + n
        n -= 1
    return x


@case((2, 3), (2, 0))
def python_loop_around_a_symbolic_one(x, n):
    for _ in range(2):
        i = 0
        while i < n:
            x = x + i
            i += 1
    return x


@case((5, 3), (2, 0))
def symbolic_loop_around_a_python_one(n, x):
    while n > 0:
        for k in range(3):
            x = x + k * n
        n -= 1
    return x


@case(3, 0)
def local_of_the_body(n):
    total = 0
    while n > 0:
        square = n * n
        total += square
        n -= 1
    return total


@case((3, 5), (0, 5))
def captured_but_unchanged(n, w):
    x = 2
    while n > 0:
        x = x * w
        n = n - 1
    return x


@case((4, [1.0, 2.0]), (0, [1.0, 2.0]))
def vector_carried(n, v):
    a, b = v[0], v[1]
    while n > 0:
        a, b = b, a + b
        n -= 1
    return a, b


@case((3, 1), (0, 1))
def tuple_carried(n, x):
    pair = (x, 2)
    while n > 0:
        pair = (pair[1], pair[0] + pair[1])
        n -= 1
    return pair


@case((3, 1), (0, 1))
def dict_carried(n, x):
    d = {"a": x, "b": 2}
    while n > 0:
        d = {"a": d["b"], "b": d["a"] + d["b"]}
        n -= 1
    return d


@case((3, True), (3, False), (4, True))
def flag_carried(n, flag):
    while n > 0:
        flag = not flag
        n -= 1
    return flag


@case(3, staged_raises=(ValueError, "'y' is not allowed to be None before the loop"))
def none_before_the_loop(n):
    y = None
    while n > 0:
        y = n if y is None else y + n
        n -= 1
    return y


@case((2, 1), staged_raises=(TypeError, "'p' does not have the same nested structure after one"))
def structure_changes(n, x):
    p = (x, x)
    while n > 0:
        p = (x, x, x)
        n -= 1
    return p


@case(3, 9)
def condition_becomes_symbolic(x):
    i = 0
    while i < 3:
        i = x
    return i


@case(3, 0)
def python_true_with_a_symbolic_break(x):
    while True:
        if x == 0:
            break
        x = x - 1
    return x


@case(3, 0)
def python_true_with_a_symbolic_return(x):
    while True:
        if x == 0:
            return x
        x = x - 1


@case(10, 3)
def python_true_with_a_python_break(x):
    i = 0
    while True:
        if i >= 4:
            break
        x = x + i
        i += 1
    return x


@case((20, 3), (1, 3), (20, 7))
def floor_division_by_loop(a, b):
    q = 0
    while a >= b:
        a -= b
        q += 1
    return q, a


@case((1.0, 5), (1.0, 0))
def series_for_e(x, n):
    term, total, k = x, x, 1
    while k <= n:
        term = term / k
        total = total + term
        k += 1
    return total


@case(123, 7, 0)
def sum_of_digits(n):
    s = 0
    while n > 0:
        s += n % 10
        n //= 10
    return s
