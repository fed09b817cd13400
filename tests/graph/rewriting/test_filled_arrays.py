"""Filled arrays as joined results of scans: the values and the slopes are those of the loop."""

import numpy as np
import pytest

import kinetograph as kg
from kinetograph.graph.array import Array
from kinetograph.graph.control.scan import Scan
from kinetograph.graph.node import Apply, ancestors
from kinetograph.graph.operations.indexing import WRITES
from kinetograph.graph.rewriting.filled_arrays import joined_rows
from kinetograph.graph.rewriting.rowwise import Rowwise

N = 7
TIMES = np.linspace(0.2, 1.1, N)


@kg.function
def of_the_value_before(z, rho):
    x = np.zeros(N)
    x[0] = 2 * z[0]
    for t in kg.range(1, N):
        x[t] = rho * x[t - 1] * TIMES[t] + z[t] * t
    return x


@kg.function
def of_three_values_before(z, rho):
    x = kg.concatenate([z[:2], 3 * z])
    x[1] = rho
    x[-7] = z[3]
    for t in kg.range(3, N + 2):
        x[t] = rho * x[t - 1] - 0.3 * x[t - 3] + z[t - 2]
    return x


@kg.function
def after_a_written_start(z, rho):
    x = kg.concatenate([z, z])[:N]
    x[2] = rho
    x[2] = 2 * rho
    for t in kg.range(3, N):
        x[t] = x[t - 1] + z[t - 3]
    return x


@kg.function
def beside_carried_values(z, rho):
    total, x = rho, np.zeros(N)
    for t in kg.range(N):
        total = rho * total + z[t]
        x[t] = 2 - total
    return x


@kg.function
def of_two_arrays(z, rho):
    x, y = np.zeros(N), np.ones(N)
    x[0], y[0] = z[0], rho
    for t in kg.range(1, N):
        y[t] = y[t - 1] + z[t]
        x[t] = 0.5 * x[t - 1] + y[t] * y[t - 1]
    return x


@kg.function
def of_tables(z, rho):
    x, steps = np.zeros((N, 2)), kg.stack([z, z * z], 1)
    for t in kg.range(1, N):
        x[t] = rho * x[t - 1] + steps[t]
    return x


@kg.function
def with_branches(z, rho):
    x = np.zeros(N)
    for t in kg.range(1, N):
        step = z[t] if x[t - 1] < 0.5 else -z[t]
        x[t] = rho * x[t - 1] + step
    return x


FILLED = [
    of_the_value_before,
    of_three_values_before,
    after_a_written_start,
    beside_carried_values,
    of_two_arrays,
    of_tables,
    with_branches,
]


@pytest.mark.parametrize("fill", FILLED)
def test_rows_are_those_of_the_loop(fill):
    z, rho = kg.placeholder((N,), name="z"), kg.placeholder(name="rho")
    loop = fill(z, rho)
    joined = Array(joined_rows(loop.node))
    assert joined.node is not loop.node
    scans = [node for node in ancestors([joined.node]) if isinstance(node, Scan)]
    operations = [node for node in ancestors([joined.node]) if isinstance(node, Apply)]
    assert not any(node.operation in WRITES for node in operations)
    assert not any(Rowwise(scan, (), scan.length).filled_places for scan in scans)
    weights = np.cos(np.arange(loop.node.shape[0]))
    found = []
    for rows in (loop, joined):
        f = kg.compile([z, rho], [rows, *kg.gradients(kg.sum(weights * rows.T), [z, rho])])
        found.append(f(np.sin(np.arange(float(N))), 0.7))
    for expected, got in zip(*found, strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-14)


@kg.function
def no_values_before(z, x):
    for t in kg.range(N):
        x[t] = kg.sin(z[t])
    return x


@kg.function
def to_the_left(z, x):
    for t in kg.range(N - 2, -1, -1):
        x[t] = x[t + 1] + z[t]
    return x


@kg.function
def some_rows(z, x):
    for t in kg.range(1, N - 1):
        x[t] = x[t - 1] + z[t]
    return x


@kg.function
def every_second_row(z, x):
    for t in kg.range(1, N, 2):
        x[t] = x[t - 1] + z[t]
    return x


@kg.function
def added_rows(z, x):
    for t in kg.range(1, N):
        x[t] += z[t]
    return x


@kg.function
def the_last_row_first(z, x):
    for t in kg.range(N):
        x[t] = x[t - 1] + z[t]
    return x


@kg.function
def the_last_row_first_beside_a_sum(z, x):
    total = z[0]
    for t in kg.range(N):
        total = total + z[t]
        x[t] = x[t - 1] + total
    return x


@kg.function
def rows_written_twice(z, x):
    for t in kg.range(1, N):
        x[t] = x[t - 1] + z[t]
        x = x.at[t].add(z[t])
    return x


@kg.function
def parts_of_rows(z, x):
    x = kg.stack([x, x], 1)
    for t in kg.range(1, N):
        x[t] = x[t - 1] + z[t]
        x[t, 0] = z[t]
    return x


@kg.function
def reads_of_parts(z, x):
    x = kg.stack([x, x], 1)
    for t in kg.range(1, N):
        x[t] = x[t - 1] + z[t] * x[t - 1, 0]
    return x


@kg.function
def rows_ahead(z, x):
    for t in kg.range(1, N):
        x[t] = x[(t + 1) % N] + z[t]
    return x


@kg.function
def rows_in_branches(z, x):
    for t in kg.range(1, N):
        if z[t] > 0:
            x[t] = x[t - 1] + z[t]
    return x


@kg.function
def whole_array(z, x):
    for t in kg.range(1, N):
        x[t] = x[t - 1] + z[t] + kg.sum(x)
    return x


@kg.function
def reversed_rows(z, x):
    for t in kg.range(1, N):
        x[t] = x[t - 1] + z[N - t]
    return x


OTHERS = [no_values_before, to_the_left, some_rows, every_second_row, added_rows]
OTHERS += [the_last_row_first, the_last_row_first_beside_a_sum, rows_written_twice]
OTHERS += [parts_of_rows, reads_of_parts, rows_ahead, rows_in_branches, whole_array, reversed_rows]


@pytest.mark.parametrize("fill", OTHERS)
def test_other_loops_stay(fill):
    z, x = kg.placeholder((N,), name="z"), kg.placeholder((N,), name="x")
    node = fill(z, x).node
    assert joined_rows(node) is node
