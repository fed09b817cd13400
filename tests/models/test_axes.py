"""Dimensions of axes: each element identifies its labels."""

import warnings

import numpy as np
import pytest

import kinetograph as kg
from kinetograph.models.axes import Part, axes_of

SIZES = {"a": 3, "b": 4, "c": 5}
# The digits of each element are its places on the axes a, b and c.
PLACES = np.add.outer(np.add.outer(100 * np.arange(3), 10 * np.arange(4)), np.arange(5.0))
ROWS = np.array([2, 0])
DIGIT = {"a": 100, "b": 10, "c": 1}


def x():
    return kg.data(PLACES, "x", dims=("a", "b", "c"))


def part(dim, *places):
    return Part(dim, places)


LABELS = kg.data([1, 3, 0], dims="row")
THREE = kg.data([1, 0, 2], dims="row")
PLAIN = kg.data([1, 3, 0])
MOVES = {
    "transpose": (lambda x: x.T, ("c", "b", "a")),
    "transpose_by_axes": (lambda x: kg.transpose(x, (1, 2, 0)), ("b", "c", "a")),
    "swapaxes": (lambda x: np.swapaxes(x, 0, 1), ("b", "a", "c")),
    "moveaxis": (lambda x: np.moveaxis(x, 0, 2), ("b", "c", "a")),
    "number": (lambda x: x[1], ("b", "c")),
    "last": (lambda x: x[..., -1], ("a", "b")),
    "slice": (lambda x: x[:, 1:3], ("a", part("b", 1, 2), "c")),
    "whole_slice": (lambda x: x[0:3, :, :], ("a", "b", "c")),
    "steps": (lambda x: x[:, ::-2], ("a", part("b", 3, 1), "c")),
    "slice_of_slice": (lambda x: x[:, :, 1:][:, :, ::2], ("a", "b", part("c", 1, 3))),
    "nothing": (lambda x: x[:, 2:2], ("a", part("b"), "c")),
    "new_axis": (lambda x: x[:, None, :, 0], ("a", None, "b")),
    "ellipsis": (lambda x: x[1:, ..., None], (part("a", 1, 2), "b", "c", None)),
    "list": (lambda x: x[:, [3, -4]], ("a", part("b", 3, 0), "c")),
    "list_of_all": (lambda x: x[:, [0, 1, 2, 3]], ("a", "b", "c")),
    "table": (lambda x: x[np.array([[0, 1], [2, 0]])], (None, None, "b", "c")),
    "mask": (lambda x: x[[True, False, True]], (part("a", 0, 2), "b", "c")),
    "mask_of_two": (lambda x: x[np.eye(3, 4) > 0], (None, "c")),
    "named": (lambda x: x[:, LABELS], ("a", "row", "c")),
    "data": (lambda x: x[:, PLAIN], ("a", None, "c")),
    "two": (lambda x: x[PLAIN - 1, LABELS], ("row", "c")),
    "apart": (lambda x: x[ROWS, :, ROWS], (None, "b")),
    "apart_after_an_axis": (lambda x: x[None, THREE, :, THREE], ("row", None, "b")),
    "number_and_array": (lambda x: x[1, LABELS], ("row", "c")),
    "number_apart_from_array": (lambda x: x[1, :, LABELS], ("row", "b")),
    "number_and_list": (lambda x: x[0, [2, 1]], (part("b", 2, 1), "c")),
    "ellipsis_between": (lambda x: x[0, ..., [2, 1]], (part("c", 2, 1), "b")),
    "take": (lambda x: np.take(x, [1], axis=2), ("a", "b", part("c", 1))),
    "flip": (lambda x: np.flip(x, 1), ("a", part("b", 3, 2, 1, 0), "c")),
    "flip_all": (
        lambda x: np.flip(x),
        (part("a", 2, 1, 0), part("b", 3, 2, 1, 0), part("c", 4, 3, 2, 1, 0)),
    ),
    "flip_twice": (lambda x: x[::-1][::-1], (part("a", 0, 1, 2), "b", "c")),
    "roll": (lambda x: np.roll(x, 1, 0), (None, "b", "c")),
    "repeat": (lambda x: np.repeat(x, 2, 1), ("a", None, "c")),
    "repeat_each": (lambda x: np.repeat(x, [1, 2, 0], 0), (part("a", 0, 1, 1), "b", "c")),
    "tile": (lambda x: np.tile(x, 2), (None, None, None)),
    "expand": (lambda x: np.expand_dims(x, 1), ("a", None, "b", "c")),
    "squeeze": (lambda x: np.squeeze(x[:, :1], 1), ("a", "c")),
    "flat": (lambda x: x.reshape(-1), (None,)),
    "first_kept": (lambda x: x.reshape(3, 20), ("a", None)),
    "last_kept": (lambda x: x.reshape(2, 6, 5), (None, None, "c")),
    "other_order": (lambda x: x.reshape(5, 4, 3), (None, None, None)),
    "broadcast": (lambda x: np.broadcast_to(x, (2, 3, 4, 5)), (None, "a", "b", "c")),
    "stack": (lambda x: np.stack([x, x], 1), ("a", None, "b", "c")),
    "concatenate": (lambda x: np.concatenate([x, x], 1), ("a", None, "c")),
    "diagonal": (lambda x: np.diagonal(x, 0, 0, 1), ("c", None)),
    "updated": (lambda x: x.at[0].set(x[0]) if isinstance(x, kg.Array) else x, ("a", "b", "c")),
    "elementwise": (lambda x: 2 * x - x, ("a", "b", "c")),
    "where": (lambda x: np.where(x > -1, x, x), ("a", "b", "c")),
}


def check(axes, values):
    """Check that the elements along an axis belong to its labels."""
    for i, axis in enumerate(axes):
        name, places = (axis.dim, axis.places) if isinstance(axis, Part) else (axis, None)
        if name not in DIGIT:
            continue
        places = np.arange(SIZES[name]) if places is None else np.array(places, int)
        found = np.moveaxis(values, i, -1).astype(int) // DIGIT[name] % 10
        np.testing.assert_array_equal(found, np.broadcast_to(places, found.shape))


@pytest.mark.parametrize("case", MOVES)
def test_elements_have_their_labels(case):
    move, expected = MOVES[case]
    node = move(x()).node
    axes = axes_of([node])[node]
    values = kg.calculate(moved=kg.Array(node))["moved"]
    assert values.shape == node.shape
    check(axes, values)
    assert axes == expected


REDUCED = {
    "sum": (lambda x: x.sum(1), ("a", "c")),
    "mean_kept": (lambda x: kg.mean(x, 0, keepdims=True), (None, "b", "c")),
    "all": (lambda x: x.sum(), ()),
    "argmax": (lambda x: kg.argmax(x, 1), ("a", "c")),
    "logsumexp": (lambda x: kg.logsumexp(x, (0, 2)), ("b",)),
    "cumsum": (lambda x: kg.cumsum(x, 1), ("a", "b", "c")),
    "cumsum_flat": (lambda x: kg.cumsum(x), (None,)),
    "diff": (lambda x: np.diff(x, axis=0), (None, "b", "c")),
    "sort": (lambda x: np.sort(x, 1), ("a", None, "c")),
    "of_length_one": (
        lambda x: x[:, :, 0] * kg.data(np.ones((1, 4)), dims=("other", "b")),
        ("a", "b"),
    ),
    "softmax": (lambda x: kg.softmax(x, 1), ("a", "b", "c")),
    "vector": (lambda x: x @ kg.data(np.ones(5), dims="c"), ("a", "b")),
    "by_vector": (lambda x: kg.data(np.ones(4), dims="b") @ x, ("a", "c")),
    "matrix": (lambda x: x @ kg.data(np.ones((5, 2)), dims=("c", "d")), ("a", "b", "d")),
    "stacks": (lambda x: x @ np.swapaxes(x, 1, 2), ("a", "b", "b")),
    "dot": (lambda x: np.dot(x[0], np.ones(5)), ("b",)),
    "tensordot": (lambda x: np.tensordot(x, x[0], ((1, 2), (0, 1))), ("a",)),
    "einsum": (lambda x: kg.einsum("ijk,k->ji", x, x[0, 0]), ("b", "a")),
    "einsum_implicit": (lambda x: kg.einsum("kji,k", x, x[:, 0, 0]), ("c", "b")),
    "outer": (lambda x: np.outer(x[:, 0, 0], x[0, :, 0]), ("a", "b")),
    "one_hot": (lambda x: kg.one_hot(LABELS, 4), ("row", None)),
    "segments": (lambda x: kg.segment_sum(x, kg.data([0, 1, 0]), 2), (None, "b", "c")),
    "cholesky": (lambda x: kg.cholesky(x[0] @ x[0].T + np.eye(4)), ("b", None)),
    "lifted": (lambda x: kg.lift(lambda t: t * 2)(x), (None, None, None)),
}


@pytest.mark.parametrize("case", REDUCED)
def test_axes_that_are_left(case):
    make, expected = REDUCED[case]
    node = make(x()).node
    assert axes_of([node])[node] == expected


def test_selections_that_meet():
    v = kg.data(np.arange(4.0), dims="b")
    named = kg.data(np.arange(3.0), dims="later")
    cases = {
        None: [v[1:] - v[:-1], v + v[::-1], v[1:] + kg.data(np.arange(3.0), dims="b")],
        part("b", 1, 2, 3): [v[1:] * 2 + v[1:], v[1:] + np.ones(3)],
        "later": [v[1:] + named, named + v[1:]],
    }
    for expected, arrays in cases.items():
        for array in arrays:
            assert axes_of([array.node])[array.node] == (expected,)


def test_labels_in_results():
    school = kg.dim("school", ["A", "B", "C"])
    mu = kg.normal(0, 1, dims=school, name="mu")
    design = kg.data(np.ones((2, 3)), dims=("pupil", school))
    kg.observe(kg.data([1.0, 2.0], "y", dims="pupil"), kg.normal(design @ mu, 1))
    model = kg.model(mu, late=mu[1:], mean=design @ mu, total=mu.sum(), first=mu[0])
    settings = {"sampler": kg.samplers.RandomWalk(0.1), "progress": False, "seed": 1}
    with pytest.warns(kg.SamplingWarning):
        tree = kg.mcmc(model, draws=4, warmup=0, chains=1, **settings)
    posterior = tree["posterior"].dataset
    assert posterior["late"].dims == ("chain", "draw", "late_school")
    assert posterior["mean"].dims == ("chain", "draw", "pupil")
    assert posterior["total"].dims == posterior["first"].dims == ("chain", "draw")
    chosen = posterior["mu"].sel(school="C").values
    np.testing.assert_array_equal(posterior["late"].sel(late_school="C").values, chosen)
    again = kg.calculate(tail=mu[2:], values=tree)["posterior"]["tail"]
    assert again["tail_school"].values.tolist() == ["C"]
    prior = kg.simulate(model, 3, seed=1)["prior"].dataset
    assert prior["late"]["late_school"].values.tolist() == ["B", "C"]


def test_dimensions_of_one_name():
    mu = kg.normal(0, 1, dims=kg.dim("school", ["A", "B", "C"]), name="mu")
    for other in (kg.dim("school", ["A", "C", "B"]), kg.dim("school", 4)):
        nu = kg.normal(kg.sum(mu), 1, dims=other, name="nu")
        text = r"two arrays .*'school': mu \(.*\) has 3 \(A, B, C\), nu \(.*test_axes.*\) has"
        with pytest.raises(kg.DimsError, match=text):
            kg.model(mu, total=nu.sum())
    alike = kg.normal(0, 1, dims=kg.dim("school", 3), name="alike")
    assert kg.model(alike, mu).coords["school"].tolist() == ["A", "B", "C"]
    with pytest.raises(kg.DimsError, match=r"coords= has 3 \(x, y, z\), mu"):
        kg.model(mu, coords={"school": ["x", "y", "z"]})
    assert kg.model(alike, coords={"school": ["x", "y", "z"]}).coords["school"][0] == "x"


def test_new_data_keep_the_labels_of_a_dimension():
    xr = pytest.importorskip("xarray")
    school = kg.dim("school", ["A", "B"])
    mu = kg.normal(0, 1, dims=school, name="mu")
    kg.observe(kg.data([1.0, 2.0], "y", dims=school), kg.normal(mu, 1))
    model = kg.model(mu, low=mu[:1])
    model.set_data(y=xr.DataArray([3.0, 4.0], dims="school", coords={"school": ["A", "B"]}))
    assert model.coords["low_school"].tolist() == ["A"]
    other = xr.DataArray([3.0, 4.0], dims="school", coords={"school": ["B", "A"]})
    with pytest.raises(kg.DimsError, match="different labels for dimension 'school'"):
        model.set_data(y=other)


def two():
    home = kg.normal(0, 1, dims=kg.dim("home", ["A", "B"]), name="home")
    away = kg.normal(0, 1, dims=kg.dim("away", ["A", "B"]), name="away")
    return home, away


MEET = {
    "added": lambda a, b: {"s": a + b},
    "a branch of a condition": lambda a, b: {"s": kg.where(a > 0, b, 1.0)},
    "within a function": lambda a, b: {"s": kg.normal(a * b, 1)},
}


@pytest.mark.parametrize("case", MEET)
def test_elements_along_two_dims_are_refused_with_a_way_out(case):
    home, away = two()
    words = r"'home' in one array and 'away' in another.*kg\.rename_dims\(array, away='home'\)"
    with pytest.raises(kg.DimsError, match=words):
        kg.model(**MEET[case](home, away))
    model = kg.model(**MEET[case](home, kg.rename_dims(away, away="home")))
    assert model.dims(model["s"].node) in (("home",), (None,))
    assert kg.model(s=MEET[case](home, kg.rename_dims(away, away=None))["s"]).names


def of_parameters(a, b):
    return kg.normal(a, kg.exp(b), name="x")


def of_its_own(a, b):
    return kg.normal(a, 1, dims="other", name="x")


def of_data(a, b):
    kg.observe(kg.data([1.0, 2.0], "y", dims="row"), kg.normal(a, 1))
    return a


@pytest.mark.parametrize(
    ("make", "names"),
    [
        (of_parameters, ("home", "away")),
        (of_its_own, ("other", "home")),
        (of_data, ("row", "home")),
    ],
)
def test_a_distribution_along_two_dims_is_warned_of_with_a_way_out(make, names):
    home, away = two()
    one, other = names
    words = f"along '{one}' with elements along '{other}'.*rename_dims.array, {other}='{one}'"
    with pytest.warns(kg.KinetographWarning, match=words):
        kg.model(x=make(home, away))
    home, away = (
        kg.rename_dims(a, **{n: one}) for a, n in zip(two(), ("home", "away"), strict=True)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kg.model(x=make(home, away))


def test_names_of_dims_that_are_changed():
    x = kg.data(PLACES, "x", dims=("a", "b", "c"))
    renamed = kg.rename_dims(x > 0, a="d", c=None)
    assert axes_of([renamed.node])[renamed.node] == ("d", "b", None)
    home, _ = two()
    moved = kg.model(s=kg.rename_dims(2 * home, home="away"))
    assert moved.dims(moved["s"].node) == ("away",)
    with pytest.raises(kg.DimsError, match=r"x has no dimension 'z'.*'a', 'b', 'c'"):
        kg.rename_dims(x, z="d")
    with pytest.raises(kg.DimsError, match="name a dimension twice"):
        kg.rename_dims(x, a="b")


def test_axes_of_parameters_that_belong_to_one_element_meet_nothing():
    shares = kg.data([0.4, 0.6], "shares", dims="part")
    cuts = kg.data([-1.0, 0.5], "cuts", dims="cut")
    x = kg.mixture(kg.normal(0, 1), kg.normal(3, 1), weights=shares, shape=2, dims="row", name="x")
    kg.observe([0, 2], kg.ordered_logistic(x, cuts))
    with warnings.catch_warnings():
        warnings.simplefilter("error", kg.KinetographWarning)
        kg.model(x)


def test_densities_probabilities_and_moments_have_the_dims_of_the_elements():
    x = kg.data(np.arange(3.0), "x", ("row",))
    mu, sd = kg.normal(0, 1, shape=3, dims="row"), kg.half_normal(1)
    weights = kg.dirichlet(np.ones((3, 2)), dims=("row", "class"))

    def dims(array):
        return tuple(axes_of([array.node])[array.node])

    assert dims(kg.log_density(kg.normal(mu, sd), x)) == ("row",)
    assert dims(kg.log_density(kg.normal(0, sd), x)) == ("row",)
    assert dims(kg.log_density(kg.normal(mu, sd), np.zeros((4, 1)))) == (None, "row")
    assert dims(kg.log_density(kg.categorical(weights), [0, 1, 1])) == ("row",)
    assert dims(kg.log_density(kg.dirichlet(np.ones(2)), weights)) == ("row",)
    assert dims(kg.cdf(kg.normal(mu, sd), 0.0)) == ("row",)
    assert dims(kg.expectation(kg.gamma(kg.exp(mu), 1.0))) == ("row",)
    assert dims(kg.variance(kg.normal(0, 1, shape=2, dims="column"))) == ("column",)
    assert dims(kg.expectation(kg.dirichlet(np.ones((3, 2))))) == (None, None)
