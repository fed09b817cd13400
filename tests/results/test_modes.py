"""`kg.modes`: draws whose modes are known."""

import json
import warnings

import numpy as np
import pytest
import xarray as xr

import kinetograph as kg
from kinetograph.results.modes import modes_of

NAMES = ["a", "b", "c"]


def found(values):
    return modes_of(values, [f"x[{i}]" for i in range(values.shape[-1])])


def drawn(rng, kind, size):
    x = rng.normal(size=size)
    if kind == "heavy tails":
        return rng.standard_t(2, size=size)
    if kind == "skew":
        return np.exp(2 * x)
    if kind == "uniform":
        return rng.random(size)
    if kind == "bent" and size[-1] > 1:
        x[..., 1] = 3 * x[..., 0] ** 2 + 0.1 * x[..., 1]
    if kind == "funnel" and size[-1] > 1:
        x[..., 1:] *= np.exp(1.5 * x[..., :1])
    return x


@pytest.mark.parametrize("kind", ["normal", "heavy tails", "skew", "uniform", "bent", "funnel"])
@pytest.mark.parametrize("dimension", [1, 2, 10])
def test_one_mode(kind, dimension):
    for seed in range(3):
        values = drawn(np.random.default_rng(seed), kind, (4, 400, dimension))
        assert len(found(values)) == 1


def test_ring_is_one_mode():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(4, 1000, 2))
    x *= (2 + 0.1 * rng.normal(size=(4, 1000, 1))) / np.linalg.norm(x, axis=-1, keepdims=True)
    assert len(found(x)) == 1


@pytest.mark.parametrize("dimension", [1, 2, 10, 30])
def test_two_modes(dimension):
    rng = np.random.default_rng(dimension)
    side = rng.random((4, 500)) < 0.3
    x = rng.normal(size=(4, 500, dimension))
    x[..., -1] += 6 * side
    modes = found(x)
    assert len(modes) == 2
    np.testing.assert_allclose(modes.weights, [1 - side.mean(), side.mean()], atol=0.01)
    assert abs(modes.errors[0] - np.sqrt(0.21 / 2000)) < 0.3 * np.sqrt(0.21 / 2000)
    assert modes.differences(0) == [f"x[{dimension - 1}]"]
    assert modes.labels.shape == (4, 500)
    # Control: the halves of one normal distribution are one mode.
    x[..., -1] -= 6 * side
    assert len(found(x)) == 1


def test_oblique_direction_and_four_modes():
    rng = np.random.default_rng(3)
    centres = 8 * np.eye(4)
    which = rng.integers(0, 4, size=(2, 1000))
    assert len(found(centres[which] + rng.normal(size=(2, 1000, 4)))) == 4
    shift = np.ones(16) * 7 / 4  # no coordinate alone shows a valley
    x = rng.normal(size=(2, 1000, 16)) + shift * (rng.random((2, 1000, 1)) < 0.5)
    assert len(found(x)) == 2


def test_repeated_and_constant_draws():
    rng = np.random.default_rng(4)
    x = np.repeat(rng.normal(size=(1, 100, 2)), 20, axis=1)
    assert len(found(x)) == 1
    assert len(found(np.zeros((2, 100, 1)))) == 1


def test_chains_in_two_modes_have_wide_errors():
    rng = np.random.default_rng(5)
    x = rng.normal(size=(4, 300, 1)) + np.array([0, 0, 0, 9.0])[:, None, None]
    modes = found(x)
    np.testing.assert_allclose(modes.weights, [0.75, 0.25])
    assert modes.errors[0] > 0.2


def test_table_names_what_differs():
    rng = np.random.default_rng(6)
    x = rng.normal(size=(2, 500, 2)) + 10 * (np.arange(500) % 2)[:, None] * np.array([0, 1])
    tree = xr.DataTree.from_dict(
        {"posterior": xr.Dataset({"x": (("chain", "draw", "k"), x)}, {"k": ["first", "second"]})}
    )
    text = repr(kg.modes(tree))
    assert text.splitlines()[0].split() == ["mode", "weight", "se", "where"]
    assert text.count("x[second] =") == 2
    assert "x[first]" not in text


def test_one_mode_has_no_table_of_differences():
    rng = np.random.default_rng(6)
    modes = kg.modes(tree_of(x=rng.normal(size=(2, 300))))
    assert repr(modes) == "one mode, in 600 draws"
    assert modes.cells() == [["mode", "weight", "se"], ["0", "1.000", "0.000"]]
    html = modes._repr_html_()
    assert "weight" in html
    assert "where" not in html


@pytest.mark.parametrize("dtype", [int, float])
def test_neighbouring_whole_numbers_are_one_mode(dtype):
    rng = np.random.default_rng(16)
    k = rng.poisson(5.0, size=(4, 1000))
    z = rng.random((4, 1000)) < 0.5
    assert len(kg.modes(tree_of(k=k.astype(dtype), z=z))) == 1
    # Control: two groups of whole numbers.
    modes = kg.modes(tree_of(k=(k + 40 * z).astype(dtype), z=z))
    np.testing.assert_allclose(sorted(modes.weights), sorted([1 - z.mean(), z.mean()]))
    low, high = k[~z].mean(), 40 + k[z].mean()
    np.testing.assert_allclose(sorted(modes.means["k"]), [low, high])


def test_numbers_that_are_constant_in_a_part():
    """No valley is looked for in the plane with a coordinate of one value."""
    rng = np.random.default_rng(15)
    centre = np.array([0.0, 9.0, 18.0, 18.0])[np.arange(600) % 4]
    x = rng.normal(size=(2, 600)) + centre
    modes = kg.modes(tree_of(x=x, k=np.where(centre < 13, 35.5, 10.5) + np.zeros((2, 1))))
    np.testing.assert_allclose(modes.weights, [0.5, 0.25, 0.25], atol=0.01)
    np.testing.assert_allclose(sorted(modes.means["x"]), [0.0, 9.0, 18.0], atol=0.3)


def test_too_few_draws():
    tree = xr.DataTree.from_dict({"posterior": xr.Dataset({"x": (("chain", "draw"), [[1.0]])})})
    with pytest.raises(ValueError, match=r"modes: 1 draws are too few .* at least 100"):
        kg.modes(tree)


def message_of(x, rng, unknowns=("x",), **others):
    lead = ("chain", "draw")
    arrays = {"x": x, **others}
    draws = {n: ((*lead, f"{n}_0", f"{n}_1")[: v.ndim], v) for n, v in arrays.items()}
    tree = xr.DataTree.from_dict(
        {
            "posterior": xr.Dataset(draws),
            "sample_stats": xr.Dataset({"lp": (lead, rng.normal(size=x.shape[:2]))}),
        }
    )
    tree.attrs["unknowns"] = json.dumps(dict.fromkeys(unknowns, 1))
    (message,) = (a.message for a in kg.diagnose(tree) if a.kind == "rhat")
    return message


def test_diagnose_names_modes():
    rng = np.random.default_rng(7)
    x = rng.normal(size=(4, 300)) + np.array([0, 0, 9.0, 9.0])[:, None]
    message = message_of(x, rng)
    assert "The draws lie in 2 modes (x near " in message
    assert "kg.temper(model)" in message


PLACES = "in which the elements of x have changed places: if their order means nothing, as of "
SORT = "use kg.sort(x) in place of x. "
SIGNS = "have changed: fix the sign, for example by a positive slope"


def test_elements_that_change_places_are_told():
    rng = np.random.default_rng(10)
    noise, means = rng.normal(size=(4, 300, 3)), np.array([-9.0, 0.0, 9.0])
    orders = [[0, 1, 2], [2, 1, 0], [2, 1, 0], [0, 2, 1]]
    swapped = noise + means[orders][:, None]
    message = message_of(swapped, rng)
    assert PLACES in message
    assert SORT in message
    # Control: what is not an unknown, and what has too many elements.
    assert "kg.temper(model)" in message_of(swapped, rng, unknowns=())
    long = rng.normal(size=(4, 300, 21)) + 9.0 * np.arange(21)
    long[1, :, :2] = long[1, :, 1::-1]
    assert "kg.temper(model)" in message_of(long, rng)
    assert SORT in message_of(long[..., :20], rng)
    # Control: other modes of a vector, and chains that differ in one element alone.
    for shift in ([0.0, 0.0, 9.0], [9.0, 9.0, 9.0]):
        moved = np.outer([0, 1, 1, 0], shift)[:, None]
        assert "kg.temper(model)" in message_of(noise + means + moved, rng)


def test_rows_and_columns_that_change_places_are_told():
    rng = np.random.default_rng(13)
    noise, swapped = 0.3 * rng.normal(size=(4, 300, 3, 2)), [0, 1, 1, 0]
    text = "in which the {} of x have changed places: if their order means nothing"
    # The first rows have opposite signs: two clusters on both sides of 0.
    for rows, place in (
        ([[-2.0, -3.0], [2.0, 3.0], [7.0, 1.0]], 1),
        ([[1.0, 5.0], [6.0, 2.0], [-4.0, 0.0]], 0),
    ):
        orders = np.array([[0, 1, 2], [1, 0, 2]])[swapped]
        means = np.array(rows)[orders][:, None]
        message = message_of(noise + means, rng)
        assert text.format("rows") in message
        assert f"use x[kg.argsort(x[:, {place}])] in place of x" in message
        across = np.swapaxes(noise + means, -1, -2)
        message = message_of(across, rng)
        assert text.format("columns") in message
        assert f"use x[:, kg.argsort(x[{place}])] in place of x" in message
    # Control: one element of two rows changes places, and a row moves elsewhere.
    means = np.array([[[1.0, 5.0], [6.0, 2.0], [-4.0, 0.0]], [[1.0, 2.0], [6.0, 5.0], [-4.0, 0.0]]])
    assert "kg.temper(model)" in message_of(noise + means[swapped][:, None], rng)
    means[1] = [[1.0, 5.0], [-4.0, 0.0], [9.0, 9.0]]
    assert "kg.temper(model)" in message_of(noise + means[swapped][:, None], rng)
    # Control: too many rows, and rows without a spread.
    many = rng.normal(size=(4, 300, 21, 2)) + 9.0 * np.arange(21)[:, None]
    many[1, :, :2] = many[1, :, 1::-1]
    assert "kg.temper(model)" in message_of(many, rng)
    assert text.format("rows") in message_of(many[..., :20, :], rng)


def test_places_that_change_within_chains_are_told():
    rng = np.random.default_rng(11)
    means = np.array([[-9.0, 0.0, 4.0], [4.0, -9.0, 0.0]])
    side = (np.arange(300) < np.array([40, 260, 300, 10])[:, None]).astype(int)
    assert SORT in message_of(rng.normal(size=(4, 300, 3)) + means[side], rng)


def test_signs_that_change_are_told():
    rng = np.random.default_rng(12)
    sign, slopes = np.array([1, -1, -1, 1])[:, None, None], np.array([1.0, 2.0, 1.5])
    ability = sign * np.linspace(-2, 2.4, 60) + 0.3 * rng.normal(size=(4, 300, 60))
    message = message_of(ability, rng)
    assert f"in which the signs of x {SIGNS}" in message
    assert "kg.sort" not in message
    # Elements at -3, 0 and 3 change places and signs alike.
    even = sign * np.array([-3.0, 0.0, 3.0]) + 0.3 * rng.normal(size=(4, 300, 3))
    assert SORT in message_of(even, rng)
    slope = sign * slopes + 0.2 * rng.normal(size=(4, 300, 3))
    both = {"slope": slope, "unknowns": ("x", "slope")}
    assert f"the signs of slope {SIGNS}" in message_of(even, rng, **both)
    # One column of a matrix.
    matrix = 3 + rng.normal(size=(4, 300, 5, 2))
    matrix[..., 1] += (sign - 1) * 3
    assert f"the signs of x {SIGNS}" in message_of(matrix, rng)
    # Control: a reflection about another value.
    assert "kg.temper(model)" in message_of(ability + 2, rng)


@pytest.mark.parametrize("scale", [1e-6, 2.0**-40, 1e-12, 1e-150, 1e-200, 1e-300])
def test_modes_do_not_depend_on_scales(scale):
    rng = np.random.default_rng(11)
    x = rng.normal(size=(4, 500, 3))
    assert len(found(x * [scale, 1 / scale, 1.0])) == 1
    x[..., :2] += np.where(rng.random((4, 500, 1)) < 0.3, [8.0, 4.0], 0.0)
    same, scaled = found(x), found(x * [scale, 1 / scale, 1.0])
    np.testing.assert_array_equal(scaled.labels, same.labels)
    assert len(same) == 2
    assert [scaled.differences(i) for i in (0, 1)] == [same.differences(i) for i in (0, 1)]


def test_pieces_of_chains_that_are_stuck_are_not_a_table_of_modes():
    """A step that suits a has no effect on b, whose scale is 1e12 times larger."""
    rng = np.random.default_rng(12)
    a = 1e-12 * rng.normal(size=(4, 1000))
    b = rng.normal(size=(4, 1)) + np.cumsum(1e-3 * rng.normal(size=(4, 1000)), 1)
    tree = tree_of(a=a, b=b)
    with pytest.warns(kg.KinetographWarning, match=r"modes: chains hardly move within these \d+"):
        kg.modes(tree)
    tree["sample_stats"] = tree_of(lp=rng.normal(size=(4, 1000)))["posterior"]
    assert "not divided into several modes" in kg.report(tree).html


@pytest.mark.parametrize("growth", [1.0, 1e200])
def test_chains_that_hardly_move_are_not_modes(growth):
    rng = np.random.default_rng(8)
    x = np.cumsum(0.02 * rng.normal(size=(4, 300)), 1) + growth * np.arange(4)[:, None]
    assert "modes (" not in message_of(x, rng)


@pytest.mark.parametrize("growth", [1.0, 150.0])
def test_a_scale_that_drifts_over_many_powers_of_ten_is_not_in_modes(growth):
    """An improper posterior: mu moves fast within a chain, the logarithm of tau does not."""
    rng = np.random.default_rng(13)
    mu = rng.normal(size=(4, 300)) + np.array([[0.0], [30.0], [60.0], [90.0]])
    walk = np.cumsum(rng.normal(size=(4, 300)), 1)
    steps = walk / np.abs(walk).max() + np.array([[1.0], [2.0], [3.0], [3.5]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "modes (" not in message_of(mu, rng, tau=np.exp(growth * steps))
    assert "modes (x near" in message_of(mu, rng, tau=np.exp(rng.normal(size=(4, 300))))


@pytest.mark.parametrize("seed", range(12))
def test_chains_that_mix_slowly_are_not_modes(seed):
    """A slow level beside quantities that move fast, given the level."""
    rng = np.random.default_rng(seed)
    steps = rng.normal(size=(4, 50, 5))
    level = rng.normal(size=(4, 1)) + np.cumsum(0.045 * steps[..., 0], 1)
    noisy = level[..., None] + 0.3 * rng.normal(size=(4, 50, 5))
    scaled = np.concatenate([level[..., None], np.exp(level)[..., None] * steps], -1)
    for x in (noisy, scaled):
        assert "modes (" not in message_of(x, rng)


def tree_of(**values):
    lead = ("chain", "draw")
    return xr.DataTree.from_dict(
        {"posterior": xr.Dataset({name: (lead, x) for name, x in values.items()})}
    )


def test_quantities_that_are_not_finite_numbers():
    rng = np.random.default_rng(9)
    side = rng.random((2, 300)) < 0.5
    x = rng.normal(size=(2, 300)) + 8 * side
    holed = np.where(np.arange(300) == 3, np.nan, x)
    words = np.where(side, "yes", "no")
    modes = kg.modes(tree_of(holed=holed, words=words, complex=x + 1j, x=x))
    assert [*modes.means] == ["x"]
    np.testing.assert_allclose(modes.weights, sorted([side.mean(), 1 - side.mean()])[::-1])
    with pytest.raises(ValueError, match=r"holed has 2 values .* not finite among 600"):
        kg.modes(tree_of(holed=holed, constant=np.ones((2, 300))))
    assert len(kg.modes(tree_of(constant=np.ones((2, 300)), words=words))) == 1
    with pytest.raises(ValueError, match=r"modes: 0 draws are too few"):
        kg.modes(xr.DataTree.from_dict({"posterior": xr.Dataset()}))


@pytest.mark.parametrize("distance", [0.0, 9.0])
def test_report_has_a_table_of_several_modes(distance):
    rng = np.random.default_rng(9)
    dims = ("chain", "draw")
    x = rng.normal(size=(4, 300)) + distance * (rng.random((4, 300)) < 0.4)
    tree = xr.DataTree.from_dict(
        {
            "posterior": xr.Dataset({"x": ((*dims, "element")[: x.ndim], x)}),
            "sample_stats": xr.Dataset({"lp": (dims, rng.normal(size=x.shape[:2]))}),
        }
    )
    section = kg.report(tree).html.partition("<h2>Modes")[2].partition("</section>")[0]
    assert ("not divided into several modes" in section) == (distance == 0)
    assert (section.count("<tr>") == 3) == (distance > 0)
    assert "<table" in kg.modes(tree)._repr_html_()
