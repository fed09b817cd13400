"""Leave-one-out and k-fold cross-validation, against closed forms of linear models."""

import itertools
import re

import numpy as np
import pytest
import xarray as xr
from scipy import special, stats

import kinetograph as kg
from kinetograph.prediction.masked_model import MaskedModel
from kinetograph.prediction.observations import Observations

RNG = np.random.default_rng(8)
X = np.stack([np.ones(14), RNG.normal(size=14)], 1)
Y = X @ [0.5, -1.0] + RNG.normal(size=14)
PRIOR, NOISE = 3.0, 1.0


def linear(y=Y, prior=PRIOR, noise=NOISE, rows=()):
    """y ~ normal(x b, noise), b ~ normal(0, prior)."""
    b = kg.normal(0, prior, shape=2, name="b")
    kg.observe(kg.data(y, name="y", dims=rows or None), kg.normal(X[: len(y)] @ b, noise))
    return b


def posterior(stay, y=Y, prior=PRIOR, noise=NOISE):
    """Mean and covariance of b given the rows `stay`."""
    x = X[: len(y)][stay]
    covariance = np.linalg.inv(np.eye(2) / prior**2 + x.T @ x / noise**2)
    return covariance @ x.T @ y[stay] / noise**2, covariance


def left_out(out, y=Y, prior=PRIOR, noise=NOISE):
    """log p(y_out | y_rest), in closed form."""
    out = np.atleast_1d(out)
    mean, covariance = posterior(np.setdiff1d(np.arange(len(y)), out), y, prior, noise)
    x = X[out]
    spread = x @ covariance @ x.T + noise**2 * np.eye(len(out))
    return stats.multivariate_normal.logpdf(y[out], x @ mean, spread)


def drawn(draws=2500, y=Y, prior=PRIOR, noise=NOISE):
    """Independent draws from the posterior, as results."""
    mean, covariance = posterior(np.arange(len(y)), y, prior, noise)
    values = np.random.default_rng(3).multivariate_normal(mean, covariance, (4, draws))
    groups = {"posterior": xr.Dataset({"b": (("chain", "draw", "b_dim_0"), values)})}
    groups["posterior"] = groups["posterior"].assign_coords(chain=range(4), draw=range(draws))
    return xr.DataTree.from_dict(groups)


def test_loo_of_a_linear_model_is_its_closed_form():
    exact = np.array([left_out(i) for i in range(len(Y))])
    result = kg.loo(kg.model(lambda: linear(rows=("row",))), drawn())
    # The errors of 10,000 independent draws are about 0.01 each.
    np.testing.assert_allclose(result.elpd_i.values, exact, atol=0.1)
    assert result.elpd_i.dims == ("row",)
    assert result.elpd == pytest.approx(result.elpd_i.values.sum())
    assert result.se == pytest.approx(np.sqrt(len(Y) * result.elpd_i.values.var()))
    assert (result.pareto_k.values < result.good_k).all()
    assert not result.warning
    inside = X @ posterior(np.arange(14))[0]
    assert result.p == pytest.approx(-exact.sum() + stats.norm.logpdf(Y, inside).sum(), abs=2)


def outlying():
    y = Y[:8].copy()
    y[2], y[5] = 8.0, -9.0
    exact = np.array([left_out(i, y) for i in range(8)])
    return y, kg.model(lambda: linear(y)), drawn(1000, y), exact


def test_moment_matching_mends_outliers():
    _y, model, results, exact = outlying()
    with pytest.warns(kg.SamplingWarning, match=r"of 8 observations are .*y\[2\].*refits=0"):
        plain = kg.loo(model, results, moment_match=False, refits=0)
    bad = np.flatnonzero(plain.pareto_k.values > plain.good_k)
    assert {2, 5} <= {*bad.tolist()}
    assert plain.warning
    moved = kg.loo(model, results, refits=0)
    assert (moved.pareto_k.values < moved.good_k).all()
    errors = [abs(each.elpd_i.values - exact)[bad] for each in (plain, moved)]
    assert errors[1].max() < 0.5
    assert errors[1].sum() < errors[0].sum()
    unchanged = np.setdiff1d(np.arange(8), bad)
    np.testing.assert_array_equal(plain.elpd_i.values[unchanged], moved.elpd_i.values[unchanged])


def test_the_only_row_of_a_group_is_left_out_by_a_refit():
    """The predictions of a flat prior are uniform from 0 to n, whatever the other groups are."""
    n, y = np.array([148, 119, 811, 196, 215]), np.array([0, 18, 46, 13, 31])

    def build():
        p = kg.beta(1, 1, shape=5)
        kg.observe(y, kg.binomial(n, p), name="y")
        return p

    model = kg.model(build)
    results = kg.mcmc(model, seed=1, progress=False)
    elpd = kg.loo(model, results, seed=1)
    np.testing.assert_allclose(elpd.elpd_i.values, -np.log(n + 1), atol=0.3)
    with pytest.warns(kg.SamplingWarning, match=r"of 5 observations .* raises its own density"):
        kg.loo(model, results, refits=0, moment_match=False)


def one_by_one(y=Y, labels="ABCDEFGHIJKLMN"):
    """The linear model, whose numbers are observed in a loop."""
    b = kg.normal(0, PRIOR, shape=2, name="b")
    for x, value, label in zip(X, y, labels, strict=False):
        kg.observe(kg.data(value, name=label), kg.normal(x @ b, NOISE))
    return b


def test_numbers_of_a_loop_are_observations_of_one_array():
    by = np.arange(14) // 2
    loop, array, results = kg.model(one_by_one), kg.model(linear), drawn(200)
    pairs = [[kg.loo(model, results, by=by, refits=0) for model in (loop, array)]]
    pairs += [[kg.kfold(model, results, k=2, draws=50, seed=1) for model in (loop, array)]]
    pairs += [[kg.loo(model, results, seed=1) for model in (loop, array)]]
    for one, other in pairs:
        np.testing.assert_allclose(one.elpd_i.values, other.elpd_i.values, atol=1e-6)
        assert one.p == pytest.approx(other.p, abs=1e-6)
    loo, kfold = pairs[2][0], pairs[1][0]
    assert loo.elpd_i.dims == kfold.elpd_i.dims == ("observation",)
    assert "".join(loo.elpd_i.observation.values) == "ABCDEFGHIJKLMN"
    assert "".join(kfold.elpd_i.observation.values) == "ABCDEFGHIJKLMN"
    table = kg.compare({"loop": (loop, results), "array": (array, results)}, seed=1)
    assert abs(table["elpd_diff"]).max() < 1e-6


def test_an_observation_that_no_draw_predicts_is_named():
    """20 standard deviations from the other numbers."""
    y = np.append(Y, 12.0)

    def build():
        mu = kg.normal(0, 10, name="mu")
        kg.observe(y, kg.normal(mu, 0.5), name="y")
        return mu

    model = kg.model(build)
    results = kg.mcmc(model, seed=1, draws=100, progress=False)
    settings = {"draws": 100, "seed": 1}
    with pytest.warns(
        kg.SamplingWarning, match=rf"loo: y\[{len(Y)}\]: so far from the predictions"
    ):
        elpd = kg.loo(model, results, moment_match=False, **settings)
    assert np.isinf(elpd.pareto_k.values[-1])
    assert elpd.warning
    with pytest.warns(kg.SamplingWarning, match=rf"kfold: .*y\[{len(Y)}\]: so far from"):
        kg.kfold(model, k=2, **settings)


def test_folds_of_numbers_with_discrete_unknowns():
    """Each number is left out by a factor of its own, so that its unknown is summed alone."""

    def mixture(observe):
        mu = kg.normal([0.0, 3.0], 1, name="mu")
        observe(np.tile([0.1, 3.2, -0.4, 2.7], 9), mu)
        return mu

    def loop(y, mu):
        for value in y:
            kg.observe(value, kg.normal(mu[kg.bernoulli(0.5)], 1))

    def array(y, mu):
        kg.observe(y, kg.normal(mu[kg.bernoulli(0.5, shape=len(y))], 1))

    rng, values = np.random.default_rng(2), []
    free, mask = rng.normal(size=(3, 2)), rng.uniform(size=36) < 0.5
    for observe in (loop, array):
        model = kg.model(lambda observe=observe: mixture(observe))
        masked = MaskedModel("kfold", model, Observations("kfold", model))
        values.append(masked.log_prob(free, mask))
    np.testing.assert_allclose(*values, rtol=1e-6)


def test_outlying_numbers_of_a_loop_are_named_and_left_out():
    y, array, results, _exact = outlying()
    loop = kg.model(lambda: one_by_one(y))
    with pytest.warns(kg.SamplingWarning, match=r"of 8 observations are .*: (\w, )*C, .*refits=0"):
        kg.loo(loop, results, moment_match=False, refits=0)
    moved, expected = (kg.loo(model, results, refits=0) for model in (loop, array))
    np.testing.assert_allclose(moved.elpd_i.values, expected.elpd_i.values, atol=1e-6)


def test_numbers_of_the_same_line_are_left_out_together():
    def build():
        b = one_by_one(Y[:3])
        kg.observe(1.0, kg.normal(b[0], 1), name="extra")
        kg.observe(Y[3:], kg.normal(X[3:] @ b, NOISE), name="y")
        return b

    model = kg.model(build)
    assert Observations("loo", model, "B").names == ["A", "B", "C"]
    assert Observations("loo", model, "y").names == ["y"]
    assert Observations("loo", kg.model(one_by_one)).text(2) == "C"


def test_other_values_of_one_number_are_noticed():
    model, results = kg.model(lambda: one_by_one(Y[:3])), drawn(20, Y[:3])
    held = {name: ((), value) for name, value in zip("ABC", Y, strict=False)}
    results["observed_data"] = xr.DataTree(xr.Dataset(held))
    Observations("loo", model).check_results("loo", model, results)
    results["observed_data"]["B"].values[()] = 0.0
    with pytest.raises(kg.DataError, match="other values of B than the model has"):
        kg.loo(model, results)


def test_unknowns_without_draws_are_fitted_again_and_not_moved():
    """The results of a model whose targets leave out its non-centred effects."""
    y, sd = np.array([90.0, 8, -3, 7, -1, 1, 18, 12]), np.array([15.0, 10, 16, 11, 9, 11, 10, 18])

    def build(all_unknowns):
        mu, tau = kg.normal(0, 5), kg.half_normal(5)
        z = kg.normal(0, 1, shape=8)
        theta = mu + tau * z
        kg.observe(kg.data(y, name="y"), kg.normal(theta, sd))
        return {"mu": mu, "tau": tau, "theta": theta} | ({"z": z} if all_unknowns else {})

    few, every = (kg.model(lambda a=a: build(a)) for a in (False, True))
    results = kg.mcmc(every, draws=100, chains=2, seed=1, progress=False)
    without = xr.DataTree.from_dict({"posterior": results["posterior"].dataset.drop_vars("z")})
    with pytest.warns(kg.SamplingWarning, match=r"loo.*refits=0") as seen:
        elpd = kg.loo(few, without, refits=0)
    message = str(seen[0].message)
    limit = float(re.findall(r"or above ([\d.]+) where", message)[0])
    named = [int(place) for place in re.findall(r"y\[(\d+)\]", message)]
    assert named
    assert (elpd.pareto_k.values[named] > limit - 0.005).all()  # it is rounded
    with pytest.warns(kg.SamplingWarning, match="refits=0"):
        plain = kg.loo(every, results, refits=0, moment_match=False)
    # Tails depend on the relative sample size of all variables in the results.
    np.testing.assert_allclose(elpd.elpd_i.values, plain.elpd_i.values, rtol=0.01)
    masked = MaskedModel("loo", few, Observations("loo", few))
    assert masked.free(without) is None
    with pytest.raises(kg.ModelError, match=r"loo: .*do not hold its draws"):
        raise masked.not_recorded(without)


def test_refits_and_folds_are_posteriors_without_the_observations():
    """One program: the fits of a k-fold with one observation in a fold are those of `loo`."""
    y, model, results, exact = outlying()
    refitted = kg.loo(model, results, moment_match=False, draws=2000, seed=1)
    np.testing.assert_array_equal(refitted.pareto_k.values[[2, 5]], 0)
    np.testing.assert_allclose(refitted.elpd_i.values[[2, 5]], exact[[2, 5]], rtol=0.08)
    inliers = np.setdiff1d(np.arange(8), [2, 5])
    folds = np.array([0, 0, 2, 0, 1, 3, 1, 1])
    each = kg.kfold(model, folds=folds, draws=1000, seed=2)
    assert each.n_folds == 4
    assert np.isnan(each.p)
    for i in inliers:
        mean, covariance = posterior(np.flatnonzero(folds != folds[i]), y)
        spread = np.sqrt(X[i] @ covariance @ X[i] + 1)
        density = stats.norm.logpdf(y[i], X[i] @ mean, spread)
        assert each.elpd_i.values[i] == pytest.approx(density, rel=0.08, abs=0.35), i


def test_groups_are_left_out_together():
    model = kg.model(linear)
    labels = np.array(list("abc"))[np.arange(14) % 3]
    exact = [left_out(np.flatnonzero(labels == g)) for g in "abc"]
    by = xr.DataArray(labels, dims="row", name="clinic")
    result = kg.loo(model, drawn(), by=by)
    np.testing.assert_allclose(result.elpd_i.values, exact, atol=0.6)
    assert result.elpd_i.dims == ("clinic",)
    assert result.elpd_i.coords["clinic"].values.tolist() == ["a", "b", "c"]
    folds = kg.kfold(model, drawn(200), k=3, by=labels, draws=1000, seed=4)
    np.testing.assert_allclose(folds.elpd_i.values, exact, atol=0.4)
    assert folds.n_data_points == 3
    assert 0 < folds.p < 4


def test_a_hidden_chain_without_times():
    """Times that share hidden states: the densities of the masked model, by enumeration."""
    from itertools import product

    stay, levels = 0.8, np.array([0.0, 2.0])
    y = np.array([0.1, 1.8, 2.2, -0.4])

    def build():
        mu = kg.normal(levels, 0.5, name="mu")
        states = [kg.categorical([0.5, 0.5], name="z0")]
        for t in range(1, 4):
            turn = kg.data(np.array([[stay, 1 - stay], [1 - stay, stay]]))
            states.append(kg.categorical(turn[states[-1]], name=f"z{t}"))
        kg.observe(kg.data(y, name="y"), kg.normal(mu[kg.stack(states)], 1.0))
        return mu

    def log_sum(mu, stays):
        terms = []
        for z in product((0, 1), repeat=4):
            jumps = sum(np.log(stay if a == b else 1 - stay) for a, b in itertools.pairwise(z))
            terms.append(np.log(0.5) + jumps + (stats.norm.logpdf(y, mu[list(z)]) * stays).sum())
        return special.logsumexp(terms)

    model = kg.model(build)
    values = RNG.normal(levels, 0.3, size=(2, 60, 2))
    results = xr.DataTree.from_dict(
        {"posterior": xr.Dataset({"mu": (("chain", "draw", "mu_dim_0"), values)})}
    )
    from kinetograph.prediction.loo import unit_densities

    grouped = Observations("loo", model, None, np.array([0, 1, 1, 0]))
    densities = unit_densities("loo", model, results, grouped)["log_likelihood"]["y"].values
    for draw in (0, 33):
        mu = values[1, draw]
        for unit, out in enumerate(([0, 3], [1, 2])):
            stays = ~np.isin(np.arange(4), out)
            expected = log_sum(mu, np.ones(4)) - log_sum(mu, stays)
            assert densities[1, draw, unit] == pytest.approx(expected, rel=1e-10)
    single = Observations("loo", model)
    masked = MaskedModel("loo", model, single)
    free, everything = masked.free(results), np.ones(4, bool)
    pointwise = kg.log_likelihood(model, results)["log_likelihood"]["y"].values
    for i in range(4):
        density = masked.log_density_of(free, everything, single.without(i))
        np.testing.assert_allclose(density, pointwise[..., i], rtol=1e-9, atol=1e-9)


def test_new_data_reach_the_refits():
    model = kg.model(linear)
    masked_y = RNG.normal(size=14)
    model.set_data(y=masked_y)
    exact = [left_out(np.flatnonzero(np.arange(14) % 2 == f), masked_y) for f in (0, 1)]
    result = kg.kfold(model, k=2, by=np.arange(14) % 2, draws=1000, seed=5)
    np.testing.assert_allclose(result.elpd_i.values, exact, atol=1.0)


def two_likelihoods():
    mu = kg.normal(0, 1, name="mu")
    kg.observe([1.0, 2.0], kg.normal(mu, 1), name="y")
    kg.observe([3.0], kg.normal(mu, 1), name="z")
    return mu


def numbers_and_an_array():
    mu = kg.normal(0, 1, name="mu")
    kg.observe(1.0, kg.normal(mu, 1), name="first")
    kg.observe(2.0, kg.normal(mu, 1), name="second")
    kg.observe([3.0, 4.0], kg.normal(mu, 1), name="y")
    return mu


def by_factor():
    mu = kg.normal(0, 1, name="mu")
    kg.factor(kg.log_density(kg.normal(mu, 1), kg.data([1.0, 2.0])))
    return mu


def joint():
    mu = kg.normal(0, 1, name="mu")
    kg.observe([1.0, 2.0], kg.multivariate_normal(mu * np.ones(2), np.eye(2)), name="y")
    return mu


def imputed():
    mu = kg.normal(0, 1)
    kg.observe(kg.data([1.0, np.nan, 2.0], "bp", missing="impute"), kg.normal(mu, 1))
    return mu


def test_the_message_for_something_else_than_results_names_loo():
    with pytest.raises(TypeError, match=r"^loo: expected results .*, got None"):
        kg.loo(kg.model(linear), None)


@pytest.mark.parametrize(
    ("build", "options", "error", "match"),
    [
        (two_likelihoods, {}, kg.ModelError, "observes y and z.*say which.*var_name='y'"),
        (numbers_and_an_array, {}, kg.ModelError, "observes first, second and y .*; say which"),
        (numbers_and_an_array, {"var_name": "first"}, kg.ModelError, "first has 1 observation: "),
        (two_likelihoods, {"var_name": ["y"]}, TypeError, r"var_name must be a name, got \['y'\]"),
        (two_likelihoods, {"var_name": "x"}, kg.ModelError, "'x' is not an observed array"),
        (imputed, {"var_name": "bp"}, kg.ModelError, "observes bp_observed .*; did you mean"),
        (two_likelihoods, {"var_name": "z"}, kg.ModelError, "z has 1 observation, and without"),
        (by_factor, {}, kg.ModelError, "observes nothing.*kg.observe"),
        (joint, {}, kg.ModelError, "y has 1 observation: one vector"),
        (linear, {"by": [1, 2]}, kg.ShapeError, r"an array of shape \(14,\), got shape \(2,\)"),
        (linear, {"by": np.zeros(14)}, kg.ModelError, "y has 1 group"),
        (linear, {"by": [0.0] * 13 + [np.nan]}, kg.DataError, r"no label at index \[13\]"),
        (linear, {"by": ["a"] * 13 + [None]}, kg.DataError, r"no label at index \[13\]"),
    ],
)
def test_what_cannot_be_left_out(build, options, error, match):
    with pytest.raises(error, match=match):
        kg.loo(kg.model(build), drawn(5), **options)
    with pytest.raises(error, match=match):
        kg.kfold(kg.model(build), **options)


def test_folds_that_do_not_fit():
    model = kg.model(linear)
    with pytest.raises(ValueError, match="k=15 folds are more than the 14 observations"):
        kg.kfold(model, k=15)
    with pytest.raises(ValueError, match="fold 1 has none"):
        kg.kfold(model, folds=[0] * 13 + [2])
    with pytest.raises(ValueError, match="whole number from 0 for each of the 14"):
        kg.kfold(model, folds=[0, 1])


def test_models_are_compared_with_the_errors_of_differences():
    narrow, wide = kg.model(linear), kg.model(lambda: linear(noise=4.0))
    fits = {"narrow": (narrow, drawn()), "wide": (wide, drawn(noise=4.0))}
    table = kg.compare(fits)
    each = {name: kg.loo(*fit).elpd_i.values for name, fit in fits.items()}
    gap = each["wide"] - each["narrow"]
    assert list(table.index) == ["narrow", "wide"]
    assert table.loc["wide", "elpd_diff"] == pytest.approx(gap.sum())
    assert table.loc["wide", "dse"] == pytest.approx(np.sqrt(14 * gap.var()))
    densities = np.exp(np.stack([each["narrow"], each["wide"]]))
    grid = np.linspace(0, 1, 2001)
    score = np.log(grid[:, None] * densities[0] + (1 - grid[:, None]) * densities[1]).sum(1)
    assert table.loc["narrow", "weight"] == pytest.approx(grid[score.argmax()], abs=2e-3)
    again = kg.compare({name: kg.loo(*fit) for name, fit in fits.items()}, reference="wide")
    assert again.loc["narrow", "elpd_diff"] == pytest.approx(-gap.sum())


def test_a_comparison_prints_all_of_its_columns():
    narrow, wide = kg.model(linear), kg.model(lambda: linear(noise=4.0))
    names = "a model with a long name and little noise", "another model with more noise"
    table = kg.compare({names[0]: (narrow, drawn()), names[1]: (wide, drawn(noise=4.0))})
    text = str(table)
    for column in table.columns.drop(["diag_diff", "diag_elpd"]):
        assert f" {column}" in text
    assert "..." not in text
    assert all(len(line) <= 100 for line in text.splitlines())
    assert f"{names[1]}: N < 100 (diag_diff)" in text
    assert repr(table) == text
    assert type(table[["rank"]]).__name__ == "DataFrame"
    assert all(f"<th>{column}</th>" in table._repr_html_() for column in table.columns)


def test_chains_that_have_not_converged_are_named():
    model, apart = kg.model(linear), drawn().copy()
    posterior = apart["posterior"].to_dataset()
    shift = 3.0 * (posterior["chain"] == 0)
    apart["posterior"].dataset = posterior + shift
    expected = r"in the results of 'apart' R-hat is above .* b.* not mixed.*weight may be wrong"
    with pytest.warns(kg.SamplingWarning, match=expected):
        kg.compare({"mixed": (model, drawn()), "apart": (model, apart)}, refits=0)


def test_folds_have_one_row_of_progress(capfd):
    options = {"k": 2, "draws": 50, "warmup": 50, "chains": 2, "seed": 1}
    quiet = kg.kfold(kg.model(linear), **options, progress=False)
    assert capfd.readouterr().err == ""
    assert kg.kfold(kg.model(linear), **options).elpd == quiet.elpd
    assert "200 draws of 4 chains" in capfd.readouterr().err


def test_only_models_of_the_same_data_are_compared():
    other = kg.model(lambda: linear(Y + 1))
    fits = {"a": (kg.model(linear), drawn(50)), "b": (other, drawn(50))}
    with pytest.raises(kg.ModelError, match=r"'a' observes .* at index \[0\], and 'b'"):
        kg.compare(fits)
    each = {"a": kg.loo(*fits["a"]), "b": kg.loo(*fits["a"], by=np.arange(14) % 2)}
    with pytest.raises(kg.ModelError, match="'a' has 14 observations, and 'b' has 2"):
        kg.compare(each)
    with pytest.raises(TypeError, match="'b' must be a pair"):
        kg.compare({"a": fits["a"], "b": drawn(5)})
    with pytest.raises(TypeError, match=r"a pair \(model, results\).*got \(results, model\)"):
        kg.compare({"a": fits["a"], "b": fits["b"][::-1]})
    with pytest.raises(ValueError, match="at least two models"):
        kg.compare({"a": fits["a"]})


def test_an_observation_that_tells_nothing():
    """Its density is equal in all draws, and its weights are, too."""

    def build():
        b = kg.normal(0, PRIOR, shape=2, name="b")
        rows = X * (np.arange(14) > 0)[:, None]
        kg.observe(kg.data(Y, name="y"), kg.normal(rows @ b, NOISE))
        return b

    result = kg.loo(kg.model(build), drawn(200))
    assert result.elpd_i.values[0] == pytest.approx(stats.norm.logpdf(Y[0]), abs=1e-7)
    assert result.pareto_k.values[0] < result.good_k


@pytest.mark.slow
def test_groups_with_effects_of_their_own_are_fitted_again():
    """The exact value is an integral over the scale of the effects; weights give -41.4 for it."""
    rng = np.random.default_rng(5)
    group = np.repeat(np.arange(15), 2)
    values = 1.5 * rng.normal(size=15)[group] + 0.5 * rng.normal(size=30)
    tau = kg.half_normal(2.0, name="tau")
    z = kg.normal(0.0, tau, shape=15, name="z")
    kg.observe(values, kg.normal(z[group], 0.5), name="y")
    model = kg.model(tau, z)
    results = kg.mcmc(model, seed=1, progress=False)
    grid = np.linspace(0.01, 8, 4000)
    covariance = 0.25 * np.eye(2) + grid[:, None, None] ** 2
    pairs = values.reshape(15, 2)
    each = np.stack([stats.multivariate_normal(cov=c).logpdf(pairs) for c in covariance])
    prior = stats.halfnorm(scale=2.0).logpdf(grid)
    whole = each.sum(1) + prior
    exact = sum(special.logsumexp(whole) - special.logsumexp(whole - each[:, i]) for i in range(15))
    elpd = kg.loo(model, results, by=group, seed=2).elpd
    assert abs(elpd - exact) < 1.0
    with pytest.warns(kg.SamplingWarning, match="15 groups are more than refits=3"):
        weighted = kg.loo(model, results, by=group, refits=3).elpd
    assert weighted > exact + 3


def test_results_of_other_data_are_refused():
    model = kg.model(linear)
    results = kg.mcmc(model, draws=20, warmup=50, chains=1, seed=1, progress=False)
    with pytest.raises(kg.DataError, match="results are of other values of y"):
        kg.loo(kg.model(lambda: linear(Y[::-1].copy())), results)


def test_observed_mixtures_of_indicators_have_densities_by_element():
    """Each element depends on one indicator, so the sum over all is a product of sums."""
    y, prob = np.array([-0.3, 3.8, 0.2]), 0.3
    z = kg.bernoulli(prob, shape=3)
    scale = kg.half_normal(1.0, name="scale")
    kg.factor(kg.log_density(kg.normal(4.0 * z, scale), y))
    model = kg.model(scale)
    parts = [np.log(w) + stats.norm(m, 1.2).logpdf(y) for w, m in ((0.7, 0), (prob, 4))]
    exact = np.logaddexp(*parts).sum() + stats.halfnorm.logpdf(1.2) + np.log(1.2)
    assert model.log_prob(np.log([1.2])) == pytest.approx(exact, rel=1e-12)


def test_models_compared_by_evidence():
    data = np.array([1.2, 0.7, 1.9])

    def build(mean):
        mu = kg.normal(mean, 1)
        kg.observe(data, kg.normal(mu, 1), name="y")
        return mu

    fits = {}
    for name, mean in (("far", 4.0), ("near", 1.0)):
        model = kg.model(lambda mean=mean: build(mean))
        fits[name] = model, kg.temper(model, particles=400, seed=1, progress=False)
    table = kg.compare(fits, method="evidence")
    law = stats.multivariate_normal(cov=np.eye(3) + 1)
    truth = law.logpdf(data - 4) - law.logpdf(data - 1)
    assert list(table.index) == ["near", "far"]
    assert abs(table["log_bayes_factor"]["far"] - truth) < 6 * table["dse"]["far"]
    assert table["dse"]["near"] == 0
    odds = np.exp(table["log_bayes_factor"]["far"])
    np.testing.assert_allclose(table["weight"], [1 / (1 + odds), odds / (1 + odds)])
    other = kg.compare(fits, method="evidence", reference="far")["log_bayes_factor"]
    np.testing.assert_allclose(other["near"], -table["log_bayes_factor"]["far"])
    draws = kg.mcmc(fits["near"][0], draws=10, warmup=10, seed=1, progress=False)
    with pytest.raises(ValueError, match="'far' has no evidence"):
        kg.compare(fits | {"far": (fits["near"][0], draws)}, method="evidence")
    data = data + 1
    model = kg.model(lambda: build(1.0))
    shifted = model, kg.temper(model, particles=100, seed=1, progress=False)
    with pytest.raises(kg.ModelError, match="'far' and 'near' observe different data"):
        kg.compare(fits | {"near": shifted}, method="evidence")


def test_refits_of_compared_models_show_progress_and_name_the_model(capfd):
    def build():
        x = kg.normal(0, 5, shape=3)
        kg.observe([0.4, 9.0, -3.0], kg.normal(x, 1), name="y")
        return x

    fits = {}
    for name in ("first", "second"):
        model = kg.model(build)
        fits[name] = model, kg.mcmc(model, draws=100, warmup=100, seed=1, progress=False)
    capfd.readouterr()
    with pytest.warns(kg.SamplingWarning) as caught:
        kg.compare(fits, draws=8, warmup=4, seed=1)
    texts = [str(each.message) for each in caught if "refits have problems" in str(each.message)]
    assert [text.partition(": 3 of 3")[0] for text in texts] == [
        "compare: 'first'",
        "compare: 'second'",
    ]
    shown = capfd.readouterr().err
    assert "3 refits of 'first': compiling ..." in shown
    assert "3 refits of 'second': compiling ..." in shown
