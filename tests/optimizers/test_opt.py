"""`kg.opt`: modes in closed form by every optimiser, starts, convergence, bad arguments."""

import inspect

import numpy as np
import optax
import pytest
from scipy import optimize, special, stats
from tests.optimizers.models import (
    CENTRE,
    WAITS,
    bimodal,
    compound,
    found,
    quadratic,
    regression,
    waits,
)

import kinetograph as kg

# Those that go step by step share one loop; one of them stands for it among the everyday tests.
SHARED = set(kg.optimizers.__all__) - {"lbfgs", "bfgs", "newton", "nelder_mead", "adam"}


def each(names, slow):
    return [pytest.param(n, marks=pytest.mark.slow) if n in slow else n for n in names]


@pytest.mark.parametrize("name", each(kg.optimizers.__all__, SHARED))
def test_every_optimizer_finds_the_mode_of_the_free_state(name):
    check_mode(name, True)


@pytest.mark.parametrize("name", kg.optimizers.__all__)
def test_every_optimizer_finds_the_mode_of_the_values(name):
    check_mode(name, False)


def check_mode(name, adjust):
    mode = (len(WAITS) + adjust) / WAITS.sum()
    rate = found(waits(), name, adjust=adjust, seed=0)
    assert rate.converged
    # A gradient of 1e-5 against a curvature of 20 leaves a relative error of 5e-7.
    np.testing.assert_allclose(rate.values["rate"], mode, rtol=1e-6)
    jacobian = np.log(mode) if adjust else 0.0
    best = -stats.expon.logpdf(WAITS, scale=1 / mode).sum() - jacobian
    np.testing.assert_allclose(rate.value, best, rtol=1e-9)


SUITABLE = {
    "adadelta": kg.optimizers.adadelta(30.0, rho=0.9),
    "adagrad": kg.optimizers.adagrad(),
    "adam": kg.optimizers.adam(0.1),
    "adamax": kg.optimizers.adamax(0.1),
    "adamw": kg.optimizers.adamw(0.1),
    "ftrl": kg.optimizers.ftrl(),
    "gradient_descent": kg.optimizers.gradient_descent(0.1),
    "momentum": kg.optimizers.gradient_descent(0.1, momentum=0.5),
    "nesterov": kg.optimizers.gradient_descent(0.1, momentum=0.5, nesterov=True),
    "schedule": kg.optimizers.gradient_descent(optax.exponential_decay(0.3, 10, 0.9)),
    "nadam": kg.optimizers.nadam(0.1),
    "rmsprop": kg.optimizers.rmsprop(optax.exponential_decay(0.3, 10, 0.8)),
    "optax": optax.chain(optax.clip_by_global_norm(10.0), optax.adam(0.1)),
    "optax with a line search": optax.lbfgs(),
    "barzilai_borwein": "barzilai_borwein",
    "bfgs": "bfgs",
    "lbfgs": "lbfgs",
    "newton": "newton",
    "nelder_mead": "Nelder-Mead",
}


def test_suitable_settings_are_known_for_all():
    assert not set(kg.optimizers.__all__) - set(SUITABLE)


@pytest.mark.filterwarnings("ignore::kinetograph.ConvergenceWarning")
@pytest.mark.parametrize("name", each(SUITABLE, SHARED - {"barzilai_borwein"}))
def test_a_quadratic_within_200_iterations(name):
    start = {"x": [4.0, 1.0]}
    x = found(quadratic(), SUITABLE[name], initial=start, max_iterations=200)
    np.testing.assert_allclose(x["x"], CENTRE, atol=1e-2)
    assert x.iterations <= 200


def test_a_prior_enters_the_mode():
    """Normal mean with a normal prior: a precision-weighted average."""
    y = np.array([1.2, 0.7, 1.9])
    mu = kg.normal(-1.0, 0.5, name="mu")
    kg.observe(kg.data(y), kg.normal(mu, 2.0))
    mode = (-1.0 / 0.25 + y.sum() / 4.0) / (1 / 0.25 + 3 / 4.0)
    np.testing.assert_allclose(found(kg.model(mu)).values["mu"], mode, atol=1e-5)


def test_logistic_regression_against_reweighted_least_squares():
    rng = np.random.default_rng(3)
    design = rng.normal(size=(80, 3))
    y = (rng.random(80) < special.expit(design @ [1.0, -0.5, 0.3])).astype(int)
    slope = np.zeros(3)
    for _ in range(20):
        p = special.expit(design @ slope)
        information = design.T @ (design * (p * (1 - p))[:, None])
        slope = slope + np.linalg.solve(information, design.T @ (y - p))
    beta = kg.variable(shape=3, name="beta")
    kg.observe(kg.data(y), kg.bernoulli(logit=kg.data(design) @ beta))
    fit = found(kg.model(beta), "newton", hessian=True)
    np.testing.assert_allclose(fit.values["beta"], slope, rtol=1e-6)
    errors = np.sqrt(np.diag(np.linalg.inv(information)))
    np.testing.assert_allclose(fit.standard_errors["beta"], errors, rtol=1e-6)


def test_rosenbrocks_valley():
    x, y = kg.variable(name="x"), kg.variable(name="y")
    model = kg.model(x, y, factors=[-((1 - x) ** 2 + 100 * (y - x * x) ** 2)])
    ours = {"initial": {"x": -1.2, "y": 1.0}}
    scipys = optimize.minimize(optimize.rosen, [-1.2, 1.0], jac=optimize.rosen_der, method="BFGS")
    for name in ("lbfgs", "bfgs", "newton", "nelder_mead"):
        fit = found(model, name, **ours)
        assert fit.converged
        np.testing.assert_allclose([fit["x"], fit["y"]], scipys.x, atol=1e-4)
        assert fit.iterations < 150


def test_a_simplex_that_has_converged_is_left():
    options = {"optimizer": "nelder_mead", "initial": {"x": 0.0}}
    model = kg.model(kg.normal(3, 1, name="x"))
    fit = kg.opt(model, **options)
    with pytest.warns(kg.ConvergenceWarning):
        before = kg.opt(model, **options, max_iterations=fit.iterations - 1)
    assert fit.converged
    assert not before.converged


@pytest.mark.parametrize("optimizer", ["lbfgs", "barzilai_borwein"])
def test_the_best_of_many_starts_is_given(optimizer):
    model, starts = bimodal(), [{"x": -1.5}, {"x": 1.5}, {"x": -0.5}]
    modes = np.sort(np.roots([-16.0, 0.0, 16.0, 1.0]).real)[[0, 2]]  # of -4 (x^2 - 1)^2 + x
    fit = found(model, optimizer, initial=starts, starts=3)
    objective = 4 * (modes**2 - 1) ** 2 - modes
    np.testing.assert_allclose(fit.reached, objective[[0, 1, 0]], rtol=1e-9)
    np.testing.assert_allclose(fit.values["x"], modes[1], rtol=1e-5)
    assert fit.value == fit.reached[1]


def test_a_start_is_the_same_among_others():
    limits = {"max_iterations": 1, "tolerance": 0.0}
    with pytest.warns(kg.ConvergenceWarning):
        alone = found(bimodal(), **limits)
    with pytest.warns(kg.ConvergenceWarning):
        among = found(bimodal(), **limits, starts=4)
    assert alone.reached[0] == among.reached[0]
    assert len(set(among.reached)) == 4
    assert found(bimodal()).value == found(bimodal()).value


@pytest.mark.parametrize("options", [{}, {"starts": 2}])
def test_a_loop_that_needs_more_room_than_there_is_at_first(options):
    model = compound(1.5)
    rate = 200 * np.expm1(1.5 / 200)
    fit = found(model, "barzilai_borwein", initial=[0.3], **options)
    assert fit.converged
    np.testing.assert_allclose(fit.values["rate"], rate, rtol=1e-5)
    assert max(model.capacity.rows.values()) >= 200


@pytest.mark.slow
@pytest.mark.parametrize(
    "optimizer",
    ["lbfgs", pytest.param(optax.lbfgs(), marks=pytest.mark.slow)],
    ids=["scipy", "optax"],
)
def test_a_loop_in_a_line_search(optimizer):
    model = compound(1.5)
    fit = found(model, optimizer, hessian=True)
    np.testing.assert_allclose(fit.values["rate"], 200 * np.expm1(1.5 / 200), rtol=1e-5)
    # d log(sum) / d rate = 1 / (1 + rate / 200), of an observation with sd 0.5.
    np.testing.assert_allclose(fit.standard_errors["rate"], 0.5 * np.exp(1.5 / 200), rtol=1e-4)


def gate():
    """A density on (0, 5) alone, written so that it is NaN elsewhere; its mode is 1."""
    x = kg.variable(name="x")
    return kg.model(x, factors=[kg.log(x) - x, 0.0 * kg.sqrt(5.0 - x)])


def test_steps_to_where_the_density_is_not_finite():
    model = gate()
    for name in ("lbfgs", "bfgs", "newton", "nelder_mead"):
        fit = found(model, name, initial={"x": 1e-3 if name != "newton" else 4.9})
        assert fit.converged
        np.testing.assert_allclose(fit["x"], 1.0, atol=1e-4)
    with pytest.warns(kg.ConvergenceWarning, match=r"not finite; a smaller learning_rate"):
        fit = found(model, kg.optimizers.gradient_descent(10.0), initial={"x": 2.0})
    assert not fit.converged
    assert fit["x"] == 2.0


def test_random_starts_are_tried_until_the_density_is_finite():
    fits = found(gate(), starts=10)
    np.testing.assert_allclose(fits.reached, 1.0, atol=1e-8)


def test_a_bad_start_names_the_term():
    x = kg.normal(0, 1, name="x")
    y = kg.data([0.5, 1.5])
    kg.observe(y, kg.normal(x, kg.exp(x) - 100.0))
    line = inspect.currentframe().f_lineno - 1
    model = kg.model(x)
    for optimizer in ("lbfgs", "adam"):
        with pytest.raises(kg.StartError, match=rf"(?s)opt: start 0.*y ~ normal.*:{line}"):
            found(model, optimizer)
    with pytest.raises(kg.StartError, match="opt: start 1: the given initial point has no finite"):
        found(model, initial=[{"x": 7.0}, {"x": 1.0}], starts=2)


def test_flags_of_a_search_that_is_stopped():
    model, _, _ = regression()
    with pytest.warns(kg.ConvergenceWarning, match=r"max_iterations = 3: the objective changed"):
        fit = found(model, "adam", max_iterations=3)
    assert not fit.converged
    assert fit.iterations == 3
    assert fit.evaluations == 4
    np.testing.assert_allclose(
        fit.gradient_norm, np.linalg.norm(model.gradient(fit.free)), rtol=1e-9
    )
    np.testing.assert_allclose(fit.value, -model.log_prob(fit.free), rtol=1e-12)
    for name in ("lbfgs", "nelder_mead"):
        with pytest.warns(kg.ConvergenceWarning, match="max_iterations = 2"):
            assert found(model, name, max_iterations=2).iterations == 2


def test_small_steps_alone_are_no_convergence():
    crawl = kg.optimizers.gradient_descent(1e-9)
    with pytest.warns(kg.ConvergenceWarning, match="its gradient has norm"):
        fit = found(quadratic(), crawl, max_iterations=5)
    assert not fit.converged


def test_a_tolerance_of_nothing_stops_at_rounding():
    for optimizer in ("lbfgs", "newton", kg.optimizers.gradient_descent(0.3)):
        assert found(quadratic(), optimizer, tolerance=0.0).converged


def test_a_saddle_is_found_out_by_its_hessian():
    x = kg.variable(name="x")
    model = kg.model(x, factors=[-((x * x - 1.0) ** 2)])
    with pytest.warns(kg.ConvergenceWarning, match="not positive definite: this point is not a"):
        fit = found(model, initial=[0.0], hessian=True)
    assert np.isnan(fit.standard_errors["x"])


def test_single_precision():
    with kg.precision("float32"):
        x = kg.normal(kg.data(np.float32([10.0, 2.0, 3.0])), 2.0, name="x")
        kg.observe(kg.data(np.float32([14.0, 0.0, 3.0])), kg.normal(x, 2.0))
    model = kg.model(x)
    for name in ("lbfgs", "adam"):
        fit = found(model, name, hessian=name == "lbfgs")
        assert fit.converged
        assert fit["x"].dtype == np.float32
        np.testing.assert_allclose(fit["x"], [12.0, 1.0, 3.0], rtol=1e-4)
        if fit.hessian is not None:
            np.testing.assert_allclose(fit.hessian, np.eye(3) / 2, atol=1e-6)


@pytest.mark.parametrize("name", ["lbfgs", "bfgs", "newton"])
def test_values_in_single_precision_end_a_search(name):
    """The objective is known to 4e-6, so the mean, whose curvature is 13, to about 1e-3."""
    y = 100 + 0.3 * np.arange(10.0)
    with kg.precision("float32"):
        mu = kg.normal(0, 10, name="mu")
        kg.observe(y, kg.normal(mu, 0.87))
    fit = found(kg.model(mu), name)
    assert fit.converged, fit.message
    weight = 10 / 0.87**2
    np.testing.assert_allclose(fit["mu"], weight * y.mean() / (weight + 0.01), atol=0.02)


@pytest.mark.parametrize("name", ["lbfgs", "bfgs", "newton", "nelder_mead"])
def test_a_start_without_a_slope(name):
    x = kg.variable(name="x", shape=2)
    fit = found(kg.model(x, factors=[0.0 * kg.sum(x)]), name)
    assert fit.converged


@pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")
def test_a_run_starts_from_what_is_found():
    fit = found(waits())
    sampler = kg.samplers.RandomWalk(step_size=1e-13)
    options = {"sampler": sampler, "draws": 1, "warmup": 0, "chains": 2, "progress": False}
    for initial in (fit, [fit, fit.values]):
        tree = kg.mcmc(waits(), initial=initial, seed=1, **options)
        np.testing.assert_allclose(tree["posterior"]["rate"], fit["rate"], rtol=1e-9)
        np.testing.assert_allclose(tree["sample_stats"]["lp"], -fit.value, rtol=1e-9)
    again = found(waits(), initial=fit)
    assert again.converged
    assert again.iterations <= 1


def test_what_does_not_change_the_program_compiles_nothing():
    model = quadratic()
    found(model, kg.optimizers.adam(0.1, b1=0.8))
    entries = dict(model.functions.entries)
    with pytest.warns(kg.ConvergenceWarning):
        found(model, kg.optimizers.adam(0.2, b1=0.8), tolerance=1e-3, max_iterations=7, seed=2)
    assert entries == model.functions.entries
    programs = [entry[1] for key, entry in entries.items() if "objective" in str(key)]
    assert programs
    assert {program._cache_size() for program in programs} == {1}


@pytest.mark.filterwarnings("ignore::kinetograph.ConvergenceWarning")
def test_programs_of_schedules_and_transformations_do_not_pile_up():
    model, counts = quadratic(), []
    for rate in (0.1, 0.2):
        for optimizer in (optax.adam(rate), kg.optimizers.adam(lambda step, rate=rate: rate)):
            fit = found(model, optimizer, initial={"x": [0.0, 0.0]}, max_iterations=1)
            # Adam's first step has the length of the rate along each axis.
            np.testing.assert_allclose(np.abs(fit["x"]), rate, rtol=1e-6)
        counts.append(len(model.functions.entries))
    assert counts[0] == counts[1]


BAD = [
    ({"optimizer": "adm"}, ValueError, r"unknown .optimizer. 'adm' .*; did you mean 'adam'\?"),
    ({"optimizer": "?"}, ValueError, r"unknown .optimizer. '\?' .*\. Choose one of adadelta,"),
    ({"optimizer": kg.optimizers.adam}, TypeError, r"write .optimizer=adam\(...\)"),
    ({"optimizer": 3}, TypeError, ". is 3 .*; expected"),
    ({"max_iterations": 0}, ValueError, "max_iterations must be .* at least 1, got 0"),
    ({"max_iterations": 2.5}, ValueError, "max_iterations must be a whole number"),
    ({"tolerance": -1e-3}, ValueError, "tolerance must be a number that is not negative"),
    ({"tolerance": float("nan")}, ValueError, "tolerance must be a number"),
    ({"tolerance": "small"}, ValueError, "tolerance must be a number"),
    ({"starts": 0}, ValueError, "starts must be .* at least 1"),
    ({"seed": -1}, ValueError, "seed must be .* at least 0, got -1"),
    ({"adjust": "no"}, TypeError, "adjust must be True or False"),
    ({"hessian": 1}, TypeError, "hessian must be True or False"),
    ({"initial": {"y": 1.0}}, kg.ModelError, "'y' is not an unknown of this model.* are x"),
    ({"initial": {"x": 1.0}}, kg.ShapeError, r"x: expected shape \(2,\), got \(\)"),
    ({"initial": [1.0, 2.0, 3.0]}, kg.ShapeError, r"opt: initial free states need shape \(1, 2\)"),
    ({"initial": [{}], "starts": 2}, kg.ModelError, "opt: initial has 1 point for 2 starts"),
    ({"initial": "x"}, ValueError, "opt: initial must be a dictionary .* got 'x'"),
    ({"initial": 3j}, TypeError, "opt: initial must be a dictionary .* got a complex"),
]


@pytest.mark.parametrize(("options", "error", "text"), BAD)
def test_bad_arguments(options, error, text):
    with pytest.raises(error, match=text):
        kg.opt(quadratic(), **options)


def test_what_is_no_model():
    with pytest.raises(TypeError, match=r"opt: .*, not a model .*; make one with kg.model"):
        kg.opt(kg.normal(0, 1))
    with pytest.raises(kg.ModelError, match="none of the arrays in the model are unknown"):
        kg.opt(kg.model(kg.data([1.0]) * 2.0))
    with pytest.raises(kg.ModelError, match="all unknowns are discrete"):
        kg.opt(kg.model(kg.poisson(3.0)))
