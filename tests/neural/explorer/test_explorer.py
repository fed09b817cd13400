"""Searches for minima of two-cluster nets, and their pieces against closed forms."""

import warnings

import jax
import numpy as np
import pytest

import kinetograph as kg
from kinetograph.neural import explorer
from kinetograph.neural.explorer import exploration
from kinetograph.neural.explorer import legs as legs_module

RNG = np.random.default_rng(1)
CLUSTERS = np.concatenate([RNG.normal(2, 0.5, (15, 2)), RNG.normal(-2, 0.5, (15, 2))])
SIGNS = np.repeat([1.0, -1.0], 15)[:, None]
STARTS = np.tile([1.0, 1, 1, 0, 0], (3, 1))  # the unit is positive in the first cluster
SETTINGS = {
    "sampler": kg.samplers.BAOAB(step_size=0.2, inverse_temperature=2.0),
    "trajectories": 3,
    "steps": 80,
    "max_legs": 4,
    "patience": 4,
    "points": 200,
    "progress": False,
}


def landscape(network, fixed=None, **settings):
    layout = kg.neural.ParameterLayout(network.start(jax.random.key(0), CLUSTERS[0], 1))
    layout = layout if fixed is None else layout.fixing(fixed)
    return kg.neural.Landscape(network, layout, "mean_squared", CLUSTERS, SIGNS, **settings)


@pytest.fixture(scope="module")
def clusters():
    """A net whose hidden unit is positive in either cluster."""
    return landscape(kg.neural.mlp([1], "tanh", "tanh"), prior=2.0)


@pytest.fixture(scope="module")
def found(clusters):
    return explorer.explore(clusters, STARTS, symmetric=False, **SETTINGS)


def analytic(function, size):
    """The landscape of a function of parameters."""
    layout = kg.neural.ParameterLayout({"w": np.zeros(size)})
    network = (lambda w, row: function(w["w"])[None], layout.like)
    loss = kg.neural.Loss("value", lambda z, y: z[0])
    return kg.neural.Landscape(network, layout, loss, np.zeros((1, 1)), np.zeros(1))


def test_candidates_of_a_series():
    """Three dips of different depth; a threshold that splits a region."""
    norms = np.full(30, 10.0)
    for place, value in ((5, 0.9), (14, 0.01), (22, 0.5)):
        norms[place - 1 : place + 2] = 2 * value
        norms[place] = value
    norms[[4, 6]] = 10
    assert explorer.candidates(norms).tolist() == [5, 14, 22]
    # The first threshold sees one region, a lower one sees three in it.
    waves = np.array([10, 0.9, 0.1, 0.9, 0.2, 0.9, 0.3, 0.9, 10])
    assert explorer.candidates(waves).tolist() == [2, 4, 6]
    assert explorer.candidates([3.0, 2.0, np.nan, 2.5]).tolist() == [1]
    with pytest.raises(ValueError, match="with a finite value"):
        explorer.candidates([np.nan])


def test_classification_of_analytic_points():
    """Functions whose second derivatives are known."""
    point = np.zeros((1, 3))
    for function, kind, signs in (
        (lambda w: w[0] ** 2 - w[1] ** 2 + w[2] ** 4, "saddle", (1, 1, 1)),
        (lambda w: w[0] ** 2 + w[1] ** 2 + 3 * w[2] ** 2, "minimum", (0, 0, 3)),
        (lambda w: -(w[0] ** 2) - w[1] ** 2 - w[2] ** 2, "maximum", (3, 0, 0)),
        (lambda w: w[0] ** 2 + w[1] ** 4 + w[2] ** 2, "degenerate minimum", (0, 1, 2)),
    ):
        columns = explorer.classify(analytic(function, 3), point)
        assert columns["kind"].tolist() == [kind]
        counts = [int(columns[n][0]) for n in ("negative", "zero", "positive")]
        assert tuple(counts) == signs


@pytest.mark.parametrize(
    "optimizer", ["bfgs", pytest.param("gradient_descent", marks=pytest.mark.slow)]
)
def test_known_minima_of_two_parameters(optimizer):
    """Points are refined to the minima of (a^2 - 1)^2 + b^2."""
    surface = analytic(lambda w: (w[0] ** 2 - 1) ** 2 + w[1] ** 2, 2)
    starts = np.array([[0.3, 2.0], [-2.0, 1.0], [1.4, -1.0]])
    for workers in (1, 3):
        refined = explorer.refine(surface, starts, optimizer=optimizer, workers=workers)
        np.testing.assert_allclose(refined.points, [[1, 0], [-1, 0], [1, 0]], atol=1e-5)
        assert refined.accepted.all()
        assert refined.gradient_norm.max() <= 1e-5
    assert explorer.merged(surface, refined.points).tolist() == [0, 1, 0]


@pytest.mark.parametrize(("activation", "odd"), [("tanh", True), ("relu", False)])
def test_copies_by_permutation_and_sign(activation, odd):
    """A 2-3-2-1 net: all copies by hidden units have one canonical form."""
    surface = landscape(kg.neural.mlp([3, 2], activation))
    shapes = [(2, 3), (3, 2), (2, 1)]
    weights = [RNG.normal(size=shape) for shape in shapes]
    bias = [RNG.normal(size=shape[1]) for shape in shapes]

    def vector(weights, bias):
        return np.concatenate([np.ravel(a) for a in (*weights, *bias)])

    w = vector(weights, bias)
    for layer, order in ((0, [2, 0, 1]), (1, [1, 0])):
        signs = np.array([-1.0, 1, -1])[: len(order)] if odd else np.ones(len(order))
        weights[layer] = (weights[layer] * signs)[:, order]
        weights[layer + 1] = (weights[layer + 1] * signs[:, None])[order]
        bias[layer] = (bias[layer] * signs)[order]
    copy = vector(weights, bias)
    np.testing.assert_allclose(surface.loss(copy), surface.loss(w), rtol=1e-12)
    forms = [explorer.canonical(surface, v) for v in (w, copy)]
    np.testing.assert_allclose(forms[0], forms[1], rtol=1e-12)
    np.testing.assert_allclose(surface.loss(forms[0]), surface.loss(w), rtol=1e-12)
    negated = w.copy()
    negated[[0, 3]] *= -1  # not a copy
    assert not np.allclose(explorer.canonical(surface, negated), forms[0])


@pytest.mark.parametrize("transposed", [False, True])
def test_copies_of_a_network_of_other_origin(transposed):
    """A 2-3-1 net with named layers, as of Flax, or with outputs first, as of Equinox."""
    start = {
        "dense_2": {"bias": np.zeros(3), "kernel": np.zeros((3, 2) if transposed else (2, 3))},
        "dense_10": {"kernel": np.zeros((1, 3) if transposed else (3, 1))},
    }

    def outputs(w, x):
        first, last = (w[name]["kernel"] for name in ("dense_2", "dense_10"))
        first, last = (first.T, last.T) if transposed else (first, last)
        return jax.numpy.tanh(x @ first + w["dense_2"]["bias"]) @ last

    layout = kg.neural.ParameterLayout(start)
    surface = kg.neural.Landscape((outputs, start), layout, "mean_squared", CLUSTERS, SIGNS)
    tree = jax.tree.map(lambda a: RNG.normal(size=a.shape), start)
    order, signs = [2, 0, 1], np.array([-1.0, 1, -1])
    axis = int(not transposed)
    copy = {
        "dense_2": {
            "bias": (tree["dense_2"]["bias"] * signs)[order],
            "kernel": np.take(
                tree["dense_2"]["kernel"] * (signs[:, None] if transposed else signs), order, axis
            ),
        },
        "dense_10": {
            "kernel": np.take(
                tree["dense_10"]["kernel"] * (signs if transposed else signs[:, None]),
                order,
                1 - axis,
            )
        },
    }
    w, v = (np.asarray(layout.vector(each)) for each in (tree, copy))
    assert not np.allclose(w, v)
    np.testing.assert_allclose(surface.loss(w), surface.loss(v), rtol=1e-6)
    forms = [explorer.canonical(surface, each) for each in (w, v)]
    np.testing.assert_allclose(forms[0], forms[1], rtol=1e-6)
    assert explorer.merged(surface, np.stack([w, v])).tolist() == [0, 0]


def test_a_search_says_early_that_copies_are_not_merged():
    surface = analytic(lambda w: (w**2).sum(), 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(kg.KinetographWarning, match=r"symmetric: .* form of a perceptron"):
            explorer.explore(surface, **SETTINGS)


def test_fixed_parameters_are_not_moved():
    surface = landscape(kg.neural.mlp([2], "tanh"), {"layer0/weights": [[3.0, np.nan]] * 2})
    w = np.array([-1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0])
    np.testing.assert_array_equal(explorer.canonical(surface, w), w)


def test_both_labelings_of_two_clusters(clusters, found):
    """All starts have one of them; with symmetry both are one minimum."""
    best = found.minima[np.isclose(found.minima["potential"], found.minima["potential"][0])]
    assert len(best) == 2
    units = np.tanh(CLUSTERS @ best[["weight0", "weight1"]].to_numpy().T)
    assert sorted(np.sign(units[:15].mean(0))) == [-1, 1]
    assert (best["accuracy"] == 1).all()
    assert (best["kind"] == "minimum").all()
    assert (best["gradient_norm"] <= 1e-5).all()
    merged = explorer.merged(clusters, found.points)
    assert merged[best.index[1]] == best.index[0]


def test_the_same_results_for_four_workers(clusters, found):
    again = explorer.explore(clusters, STARTS, symmetric=False, workers=4, **SETTINGS)
    for name in ("minima", "corner_points", "legs", "averages"):
        first, second = getattr(found, name), getattr(again, name)
        assert first.equals(second), name
    other = explorer.explore(clusters, STARTS, seed=1, **(SETTINGS | {"max_legs": 1}))
    assert not other.corner_points.iloc[:3].equals(found.corner_points.iloc[:3])


def test_a_killed_search_continues(clusters, found, tmp_path, monkeypatch):
    """Legs begin at corner points; averages are over all rows."""
    calls, starts, draws = [], {}, {}

    def counted(*given, **settings):
        calls.append(given[3])
        if len(calls) == 2:
            raise KeyboardInterrupt
        leg = legs_module.sampled_leg(*given, **settings)
        starts[given[3]], draws[given[3]] = given[2], leg.draws.reshape(-1, 5)
        return leg

    monkeypatch.setattr(exploration, "sampled_leg", counted)
    arguments = {"symmetric": False, "store": tmp_path / "search"} | SETTINGS
    with pytest.raises(KeyboardInterrupt):
        explorer.explore(clusters, STARTS, **arguments)
    again = explorer.explore(clusters, STARTS, **arguments)
    assert calls == [0, 1, *range(1, len(found.legs))]
    assert again.minima.equals(found.minima)
    assert again.legs.equals(found.legs)
    corners = found.corner_points
    for leg in range(1, len(found.legs)):
        before = corners[corners["leg"] == leg - 1][clusters.names]
        np.testing.assert_array_equal(starts[leg], before)
    rows = np.concatenate([draws[leg] for leg in range(len(found.legs))])
    np.testing.assert_allclose(again.averages["mean"], rows.mean(0), rtol=1e-12)
    np.testing.assert_allclose(again.averages["sd"], rows.std(0), rtol=1e-12)
    for name, value in (("steps", 90), ("seed", 77), ("points", 99), ("prune", 0.01)):
        with pytest.raises(ValueError, match=rf"another computation, which differs in {name}[ ;]"):
            explorer.explore(clusters, STARTS, **(arguments | {name: value}))
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(ValueError, match=r"explore: store: '.*file' is a file .*; give a folder"):
        explorer.explore(clusters, STARTS, **(arguments | {"store": file}))


def test_pruning_does_not_feed_averages(clusters, found):
    """Averages are over all rows; the diffusion map has other points."""
    once = {**SETTINGS, "max_legs": 1, "symmetric": False}
    whole, pruned = (explorer.explore(clusters, prune=part, **once) for part in (0.0, 0.6))
    assert pruned.averages.equals(whole.averages)
    assert pruned.legs["mean_potential"].equals(whole.legs["mean_potential"])
    assert not pruned.corner_points.equals(whole.corner_points)
    leg = legs_module.Leg(RNG.normal(size=(2, 5, 3)), np.arange(10.0).reshape(2, 5), None)
    rows = legs_module.pool([leg], 100, 0.5)
    np.testing.assert_array_equal(rows, leg.draws.reshape(-1, 3)[:5])


@pytest.mark.slow
def test_ensembles_of_walkers(clusters):
    walkers = kg.samplers.EQN(
        kg.samplers.BAOAB(step_size=0.1, inverse_temperature=100.0), walkers=4, groups=2, eta=1.0
    )
    settings = SETTINGS | {"trajectories": 1, "max_legs": 2, "steps": 40, "sampler": walkers}
    result = explorer.explore(clusters, **settings)
    assert result.legs["rows"].tolist() == [160] * len(result.legs)
    assert len(result.minima) >= 1


SAMPLERS = [
    kg.samplers.SGLD(0.02, inverse_temperature=10.0),
    kg.samplers.GLA2(0.1, inverse_temperature=10.0),
    kg.samplers.HMC(0.2, n_steps=5, inverse_temperature=10.0),
    kg.samplers.NUTS(),
    kg.samplers.MALA(0.05, inverse_temperature=10.0),
    kg.samplers.MCLMC(0.2),
    kg.samplers.CCAdL(0.1, inverse_temperature=10.0),
    kg.samplers.Stretch(walkers=6),
]


@pytest.mark.slow
@pytest.mark.parametrize("sampler", SAMPLERS, ids=lambda each: type(each).__name__)
def test_any_sampler_finds_both_valleys(sampler):
    """The minima of (a^2 - 1)^2 + b^2, from two trajectories that begin in different valleys."""
    land = analytic(lambda w: (w[0] ** 2 - 1) ** 2 + w[1] ** 2, 2)
    walkers = sampler.walkers or 1
    starts = np.repeat([[1.2, 0.3], [-0.7, -0.2]], walkers, axis=0)
    starts = starts + 0.1 * RNG.normal(size=starts.shape)
    settings = {"trajectories": 2, "steps": 100, "max_legs": 1, "warmup": 20, "progress": False}
    found = explorer.explore(land, starts, sampler=sampler, symmetric=False, **settings)
    assert found.legs["rows"].tolist() == [200 * walkers]
    minima = found.minima[found.minima["kind"] == "minimum"]
    points = minima.sort_values(land.names[0])[land.names]
    np.testing.assert_allclose(points, [[-1, 0], [1, 0]], atol=1e-5)
    assert np.isfinite(found.averages[["mean", "sd"]]).all(axis=None)


@pytest.mark.slow
def test_what_ends_a_search():
    """Eigenvalues that change little, legs without another minimum, or the number of legs."""
    land = analytic(lambda w: (w[0] ** 2 - 1) ** 2 + w[1] ** 2, 2)
    starts = [[1.2, 0.3], [-0.7, -0.2]]
    settings = {"trajectories": 2, "steps": 100, "progress": False, "symmetric": False}
    settings |= {"sampler": kg.samplers.BAOAB(0.1, inverse_temperature=10.0), "max_legs": 5}
    most = explorer.explore(land, starts, tolerance=1e-12, patience=9, **settings)
    assert (most.stopped_by, len(most.legs)) == ("max_legs", 5)
    values = most.legs[[f"eigenvalue{i}" for i in range(1, 5)]].to_numpy()
    changes = np.max(np.abs(np.diff(values, axis=0) / values[:-1]), axis=1)
    np.testing.assert_allclose(most.legs["change"], [np.inf, *changes], rtol=1e-12)
    limit = 1.01 * changes[1:].min()
    legs = 2 + int(np.argmax(changes < limit))
    early = explorer.explore(land, starts, tolerance=limit, patience=9, **settings)
    assert (early.stopped_by, len(early.legs)) == ("eigenvalues", legs)
    idle = explorer.explore(land, starts, tolerance=1e-12, patience=2, **settings)
    assert (idle.stopped_by, len(idle.legs)) == ("minima", 3)
    assert idle.legs["new_minima"].tolist() == [2, 0, 0]


@pytest.fixture(scope="module")
def valleys():
    """A search in (a^2 - 1)^2 + b^2 that begins at its saddle, too."""
    cold = kg.samplers.BAOAB(step_size=0.05, inverse_temperature=1e14)
    starts = [[0.0, 0.0], [0.9, 0.1], [-0.8, 0.1]]
    land = analytic(lambda w: (w[0] ** 2 - 1) ** 2 + w[1] ** 2, 2)
    settings = {"sampler": cold, "trajectories": 3, "steps": 40, "max_legs": 1, "progress": False}
    return explorer.explore(land, starts, symmetric=False, **settings)


def test_minima_and_saddles_are_counted_apart(valleys):
    assert valleys.minima["kind"].tolist() == ["minimum", "minimum", "saddle"]
    assert valleys.minima.columns[0] == "kind"
    assert str(valleys) == "2 minima and 1 saddle after 1 leg, stopped by max_legs"
    counts = valleys.legs[["new_minima", "minima", "saddles"]]
    assert counts.to_numpy().tolist() == [[2, 2, 1]]
    pytest.importorskip("matplotlib").use("Agg")
    lines = {line.get_label(): line for line in valleys.plot().lines}
    assert len(lines["minima"].get_xdata()) == 2
    assert len(lines["saddles"].get_xdata()) == 1


def test_a_search_without_a_minimum_says_what_to_do():
    land = analytic(lambda w: w[0], 1)
    settings = {"steps": 20, "max_legs": 1, "seed": 1, "progress": False}
    result = explorer.explore(land, symmetric=False, **settings)
    assert len(result.points) == 0
    assert str(result).startswith("no minimum was found after 1 leg")
    assert "a prior keeps minima finite" in str(result)
    land.prior = 3.0
    assert "prior" not in str(result)
    assert "a larger gradient_tolerance accepts flatter valleys" in str(result)


def test_a_plot_has_all_minima(found):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    axes = found.plot()
    (dots,) = [line for line in axes.lines if line.get_label() == "minima"]
    assert len(dots.get_xdata()) == len(found.minima)
    pyplot.close("all")


def test_wrong_arguments(clusters):
    with pytest.raises(ValueError, match="trajectories must be a whole number of at least 1"):
        explorer.explore(clusters, trajectories=0)
    with pytest.raises(ValueError, match="prune from 0 to below 1"):
        explorer.explore(clusters, prune=1.0)
    with pytest.raises(ValueError, match=r"expected the shape \(5, 5\)"):
        explorer.explore(clusters, np.zeros((2, 5)))


def test_wrong_samplers_and_optimisers_are_refused_first():
    x, network = np.array([[2.0], [-2.0]]), kg.neural.mlp([])
    layout = kg.neural.ParameterLayout(network.start(jax.random.key(0), x[0], 1))
    land = kg.neural.Landscape(network, layout, "mean_squared", x, 2 * x)
    for wrong in (-1, 0, "a"):
        with pytest.raises(ValueError, match=r"explore: gradient_tolerance must be a positive"):
            explorer.explore(clusters, gradient_tolerance=wrong)
        with pytest.raises(ValueError, match=r"refine: tolerance must be a positive number, got"):
            explorer.refine(clusters, STARTS, tolerance=wrong)
    with pytest.raises(TypeError, match=r"explore: sampler must be a sampler, .* got 'BAOAB'"):
        kg.neural.explorer.explore(land, sampler="BAOAB")
    with pytest.raises(ValueError, match=r"explore: .*'bgfs'.*bfgs"):
        kg.neural.explorer.explore(land, optimizer="bgfs")
