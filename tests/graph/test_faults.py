"""Computed indices outside their axes raise errors, and never give numbers."""

import numpy as np
import pytest

import kinetograph as kg

U = [1.0, 2.0, 3.0]


def placeholders():
    return kg.placeholder((3,), name="u"), kg.placeholder(dtype=int, name="i")


@pytest.fixture(scope="module")
def reading():
    u, i = placeholders()
    return kg.compile([u, i], [u[i], kg.gradients(u[i] ** 2, u)])


@pytest.mark.parametrize("i", [0, 2, -1, -3])
def test_indices_inside_count_from_both_ends(reading, i):
    value, slope = reading(U, i)
    expected = np.zeros(3)
    expected[i] = 2 * U[i]
    assert value == U[i]
    np.testing.assert_array_equal(slope, expected)


@pytest.mark.parametrize("i", [3, 7, -4, 2**40])
def test_indices_outside_are_an_error(reading, i):
    shown = min(i, 2**31 - 1)
    with pytest.raises(
        kg.BoundsError, match=rf"u\[i\]: index {shown} is out of bounds for length 3 .*_faults"
    ) as caught:
        reading(U, i)
    assert isinstance(caught.value, IndexError)
    assert isinstance(caught.value, kg.CheckError)


def test_every_operation_that_takes_indices():
    u, i = placeholders()
    x = kg.placeholder((2, 3), name="x")
    pair = i + np.array([0, 1])
    outputs = {
        "x[i - 1, pair]": x[i - 1, pair],
        "u.at[i].set": u.at[i].set(5.0),
        "u.at[pair].add": u.at[pair].add([10.0, 20.0]),
        "u.at[i].multiply": u.at[i].multiply(2.0),
        "take": kg.take(u, pair),
        "segment_sum": kg.segment_sum(u, i + np.array([0, 1, 1]), 3),
        "one_hot": kg.one_hot(pair, 3),
    }
    expected = [[2.0, 3.0], [1, 5, 3], [1, 12, 23], [1, 4, 3], [2, 3], [0, 1, 5], np.eye(3)[1:]]
    arrays = np.array(U), np.arange(1.0, 7).reshape(2, 3)
    together = kg.compile([u, x, i], list(outputs.values()))
    for found, wanted in zip(together(*arrays, 1), expected, strict=True):
        np.testing.assert_array_equal(found, wanted)
    for output in outputs.values():
        with pytest.raises(kg.BoundsError, match=r"out of (bounds|range).*test_faults.py"):
            kg.compile([u, x, i], output)(*arrays, 4)


@pytest.mark.parametrize("at", [3, -4, 2**40])
def test_writes_outside_write_nan_without_a_check(at):
    """`kg.debug` raises no error of indices."""
    u, i = placeholders()
    outputs = [u.at[i].set(5.0), u.at[i].add(5.0), u.at[i + np.array([0, -1])].set(5.0)]
    for found in kg.debug(outputs, {u: U, i: at}).values:
        assert np.isnan(found).any()


@pytest.mark.parametrize("at", [3, -4, 2**32, 2**32 + 1, -(2**32), 2**40, 2**63 - 1])
def test_reads_outside_are_nan_without_a_check(at):
    u, i = placeholders()
    (found,) = kg.debug(u[i], {u: U, i: at}).values
    assert np.isnan(found)
    x = kg.variable(name="x")
    density = kg.model(x, factors=[kg.data([1.0, 2.0, 3.0])[(x * 1.0).astype(int)]])
    assert np.isnan(density.log_prob([float(at)]))


def test_several_labels_are_looked_at_one_by_one():
    """The labels -1 and 3 would combine to group 0."""
    i = kg.placeholder((2,), dtype=int, name="i")
    f = kg.compile([i], kg.segment_sum(np.ones(2), (i, i + 1), (2, 3)))
    assert f([0, 1]).tolist() == [[0, 1, 0], [0, 0, 1]]
    with pytest.raises(kg.BoundsError, match="label i = -1 is out of range"):
        f([0, -1])


@kg.function
def neighbours(xs):
    total = 0.0
    for i in kg.range(len(xs)):
        total = total + xs[i] * xs[i + 1]
    return total


@kg.function
def first_above(xs, level):
    i = 0
    while xs[i] < level:
        i = i + 1
    return i


def test_loops_name_the_line_and_the_index():
    with pytest.raises(kg.BoundsError, match=r"xs\[i \+ 1\]: index 3 is out of bounds"):
        neighbours(np.array(U))
    assert first_above(np.array(U), 2.5) == 2
    with pytest.raises(kg.BoundsError, match=r"xs\[i\]: index 3 is out of bounds"):
        first_above(np.array(U), 4.0)


def test_loops_end_at_a_fault():
    """A loop that would read NaN and never end without the fault."""
    u, i = placeholders()
    (last,) = kg.while_loop(lambda j: np.logical_not(u[j] > 4), lambda j: (j + 1,), (i,))
    f = kg.compile([u, i], last)
    assert f([1.0, 5.0, 2.0], 0) == 1
    with pytest.raises(kg.BoundsError, match="index 3 is out"):
        f(U, 1)


def test_branches_and_batches_look_only_where_they_are_taken():
    u, i = placeholders()

    def row(j):
        return kg.cond(j < 3, lambda: u.at[j].set(9.0), lambda: u)

    f = kg.compile([u, i], kg.vmap(row)(i + np.array([0, 1])))
    assert f(U, 2).tolist() == [[1, 2, 9], U]
    with pytest.raises(kg.BoundsError, match="index -7 is out"):
        f(U, -8)


def test_derivatives_of_loops_look_too():
    """Test value, gradient and Hessian of a product in a batch.

    The product is u0 u1 ... u(n-1), and the number of trips n has no bound.
    """
    u, n = kg.placeholder((2, 3), name="u"), kg.placeholder(dtype=int, name="n")

    def product(u):
        return kg.while_loop(lambda i, p: i < n, lambda i, p: (i + 1, p * u[i]), (0, 1.0))[1]

    y = kg.vmap(product)(u).sum()
    f = kg.compile([u, n], [kg.gradients(y, u), kg.hessian(y, u)])
    slope, curvature = f([U, [2.0, 2.0, 2.0]], 2)
    assert slope.tolist() == [[2, 1, 0], [2, 2, 0]]
    assert curvature[0, :, 0].tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    with pytest.raises(kg.BoundsError, match=r"index 3 is out"):
        f([U, U], 4)


def test_states_are_as_before_a_fault():
    u, i = placeholders()
    total = kg.state(0.0, name="total")
    f = kg.compile([u, i], total.assign_add(u[i]))
    f(U, 1)
    with pytest.raises(kg.BoundsError):
        f(U, 3)
    assert f.state[total] == 2.0


def test_modes_of_take():
    u, i = placeholders()
    f = kg.compile([u, i], [kg.take(u, i, mode=mode) for mode in ("clip", "wrap")])
    for k in (-5, -1, 1, 3, 7):
        assert [float(v) for v in f(U, k)] == [np.take(U, k, mode=m) for m in ("clip", "wrap")]
    with pytest.raises(ValueError, match="mode is 'nearest'"):
        kg.take(u, i, mode="nearest")


def test_density_of_a_model_is_nan():
    z = kg.normal(0, 1, name="z")
    u = kg.normal(0, 1, shape=3, name="u")
    place = kg.floor(z).astype(int)
    y = kg.data(0.5)
    kg.observe(y, kg.normal(u[place] + kg.data([0.0, 0.0]).at[place].add(0.0).sum(), 1.0))
    model = kg.model(z, u)
    inside = np.array([1.5, 0.1, 0.2, 0.3])
    assert np.isfinite(model.log_prob(inside))
    assert np.isfinite(model.gradient(inside)).all()
    for z_at in (2.5, 3.5):  # outside the written array; outside both arrays
        inside[0] = z_at
        assert np.isnan(model.log_prob(inside))
        assert np.isnan(model.gradient(inside)).all()
    read = u[place]
    assert kg.debug([read], {z: 3.5, u: U}).first_bad.startswith("read = nan")


OPEN = kg.data(np.array([True, False, True]))
AGES = kg.data(np.array([30, 20, 10]))
WEIGHTS = kg.data([0.5, 0.1, 0.2])


def _in_a_loop(place):
    return kg.scan(lambda n, k: (n + OPEN[place + k].astype(int), None), 0, np.arange(2))[0] > 0


@pytest.mark.parametrize(
    "holds",
    [
        lambda place: OPEN[place],
        lambda place: AGES[place] > 15,
        lambda place: WEIGHTS[place] > 0.3,
        lambda place: kg.vmap(lambda i: OPEN[i])(kg.stack([place, place])).all(),
        lambda place: kg.cond(place > 1, lambda: OPEN[place], lambda: ~OPEN[place]),
        _in_a_loop,
    ],
)
def test_density_is_nan_whatever_is_made_of_what_was_read(holds):
    z = kg.normal(0, 1, name="z")
    term = kg.factor(kg.where(holds(kg.floor(z).astype(int)), 0.0, -1.0) * z)
    model = kg.model(z)
    assert np.isfinite(model.log_prob([0.5]))
    assert np.isnan(model.log_prob([3.5]))
    assert np.isnan(model.gradient([3.5])).all()
    del term


def test_results_of_loops_are_named_as_in_code():
    @kg.function
    def first_negative(xs):
        i = 0
        for x in xs:
            if x < 0:
                break
            i += 1
        return xs[i]

    with pytest.raises(kg.BoundsError) as caught:
        first_negative(np.array([1.0, 2.0]))
    assert "xs[i]: index 2 is out of bounds" in str(caught.value)
    assert "write kg.clip(i, 0, 1)" in str(caught.value)
