"""`x[i] = v` and `x[i] += v` on arrays, lists and dictionaries."""

import numpy as np
from tests.autograph.harness import case

import kinetograph as kg


@case((np.array([1, 2, 3]), 0), (np.array([1, 2, 3]), 2))
def set_one(x, i):
    x[i] = 10
    return x


@case((np.array([1.0, 2.0, 3.0]), 0.5), (np.array([1.0, 2.0, 3.0]), 2.5))
def set_at_a_static_index(x, v):
    x[1] = v
    return x


@case((np.array([1, 2, 3]), 0), (np.array([1, 2, 3]), 2))
def add_to_one(x, i):
    x[i] += 10
    return x


@case((np.array([1, 2, 3]), 0), (np.array([1, 2, 3]), -1))
def negative_index(x, i):
    x[-1] = 7
    x[i] = 9
    return x


@case((np.array([6, 7, 9]), 2), (np.array([6, 7, 9]), 4))
def every_augmented_operator(x, k):
    x[0] -= k
    x[1] *= k
    x[2] //= k
    x[0] %= 3
    return x


@case((np.array([1.0, 2.0]), 4.0), (np.array([1.0, 2.0]), 5.0))
def augmented_floats(x, k):
    x[0] /= k
    x[1] **= 2
    x[1] -= k
    return x


@case((np.array([1, 2, 3, 4]), 9), (np.array([1, 2, 3, 4]), 8))
def set_a_slice(x, v):
    x[1:3] = v
    return x


@case((np.array([1, 2, 3, 4]), 9), (np.array([1, 2, 3, 4]), 8))
def add_to_a_slice(x, v):
    x[::2] += v
    return x


@case((np.array([1, 2, 3, 4]), np.array([9, 8])), (np.array([1, 2, 3, 4]), np.array([7, 6])))
def set_a_slice_to_an_array(x, v):
    x[:2] = v
    x[2:] += v
    return x


@case((np.zeros((2, 3)), 1), (np.zeros((2, 3)), 0))
def set_in_a_matrix(x, i):
    x[i, 2] = 5.0
    x[0, 0] += 1.0
    return x


@case((np.zeros((2, 3)), 1), (np.zeros((2, 3)), 0))
def set_a_row(x, i):
    x[i] = 5.0
    return x


@case((np.zeros((2, 3)), 1), (np.zeros((2, 3)), 0))
def set_a_column(x, j):
    x[:, j] = 5.0
    return x


@case((np.zeros((2, 3)), 1), (np.zeros((2, 3)), 0))
def set_by_two_subscripts(x, i):
    row = x[i] + 1.0
    row[2] = 8.0
    return row


@case((np.ones((2, 3)), 0, 1.0), (np.ones((2, 3)), 1, -1.0))
def rows_in_a_branch(x, i, level):
    """The view by which a row is changed is of no more use."""
    if level > 0.0:
        y = x[0, 1] * 3.0
        x[i] *= 0.5
        x[1, 0] += 0.25 * y
        x[i] += x[1] * 2.0
        x[1, 1] = x[i, 1] + 1.0
    return x


@case((np.array([1, 2, 3]), 5), (np.array([1, 2, 3]), -5))
def set_in_a_branch(x, v):
    if v > 0:
        x[0] = v
    return x


@case((np.array([1, 2, 3]), 5), (np.array([1, 2, 3]), -5))
def set_in_both_branches(x, v):
    if v > 0:
        x[0] = v
    else:
        x[1] = v
        x[2] += v
    return x


@case((np.zeros(4), 4), (np.zeros(4), 2), (np.zeros(4), 0))
def set_in_a_for(x, n):
    for i in kg.range(n):
        x[i] = i * 2.0
    return x


@case((np.zeros(4), 4), (np.zeros(4), 2), (np.zeros(4), 0))
def set_in_a_while(x, n):
    i = 0
    while i < n:
        x[i] = i + 1.0
        i += 1
    return x


@case((np.array([1, 2, 3, 4, 5]), 5), (np.array([1, 2, 3, 4, 5]), 1))
def running_sum(x, n):
    for i in kg.range(1, n):
        x[i] += x[i - 1]
    return x


@case(np.array([3, 1, 2, 5, 4]), np.array([5, 9, 3, 2, 1]))
def bubble_sort(x):
    n = len(x)
    for i in kg.range(n):
        for j in kg.range(n - 1 - i):
            if x[j] > x[j + 1]:
                t = x[j]
                x[j] = x[j + 1] + 0
                x[j + 1] = t + 0
    return x


@case((np.array([3, 1, 2]), 3), (np.array([9, 8, 7]), 1))
def swap_by_tuples(x, n):
    i = 0
    while i < n - 1:
        x[i], x[i + 1] = x[i + 1] + 0, x[i] + 0
        i += 1
    return x


@case((np.array([0, 2, 1, 2]), 3), (np.array([0, 0, 0, 0]), 3))
def histogram(v, n):
    counts = np.zeros(3, dtype=int)
    for x in v:
        counts[x] += 1
    return counts, n


@case((np.ones(3), 2.5), (np.ones(3), -2.5))
def numpy_array_of_the_function(x, v):
    out = np.zeros(3)
    out[0] = v
    out[1] = x[1] + v
    return out


@case(5, 2, 0)
def numpy_array_filled_in_a_loop(n):
    out = np.zeros(5)
    for i in kg.range(n):
        out[i] = i * i
    return out


@case((np.array([1, 2, 3]), 1), (np.array([1, 2, 3]), 2))
def copy_is_independent(x, i):
    y = x.copy()
    y[i] = 50
    return y, x * 2


@case((1, 0), (2, 1), static=("k",))
def python_list_item(v, k):
    items = [10, 20]
    items[k] = v
    items[1 - k] += v
    return items


@case(1, 2)
def python_list_slice(v):
    items = [1, 2, 3, 4]
    items[1:3] = [v, v * 2, v * 3]
    return items


@case((1, "a"), (2, "b"))
def python_dict_item(v, key):
    d = {"a": 1}
    d[key] = v
    d["a"] += 10
    return d


@case((1, 2), (-1, 2))
def array_in_an_attribute(v, w):
    class Holder:
        pass

    h = Holder()
    h.x = np.array([0, 0, 0])
    h.x = h.x + w
    h.x[1] = v
    return h.x


@case((np.array([1, 2]), 3), (np.array([1, 2]), -3))
def array_in_a_dict(x, v):
    d = {"x": x}
    d["x"][0] = v
    if v > 0:
        d["x"][1] += v
    return d["x"]


@case((np.array([1, 2, 3]), 5), (np.array([1, 2, 3]), 7))
def item_of_an_item(x, v):
    items = [x, x + 1]
    items[1][0] = v
    return items[1]


@case(
    (np.array([1.0, 2.0, 3.0]), np.array([True, False, True])),
    (np.array([1.0, 2.0, 3.0]), np.array([False, False, True])),
)
def set_by_a_mask(x, mask):
    x[mask] = 0.0
    return x


@case((np.array([1.0, 2.0, 3.0]), 1), (np.array([1.0, 2.0, 3.0]), 2))
def read_after_write(x, i):
    x[i] = x[i] * 10
    y = x[i]
    x[i] = 0.0
    return y, x


@case((6, 5), (6, 10))
def sieve(n, k):
    prime = np.ones(12, dtype=bool)
    for i in kg.range(2, n):
        if prime[i]:
            for j in kg.range(2 * i, 12, i):
                prime[j] = False
    return prime[k], prime


@case((np.zeros((3, 3)), 3), (np.zeros((3, 3)), 1))
def table_filled_by_two_loops(t, n):
    for i in kg.range(n):
        for j in kg.range(n):
            t[i, j] = i * 10.0 + j
    return t
