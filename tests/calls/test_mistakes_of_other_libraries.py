"""Answers to habits of PyMC, NumPyro, Stan and JAX: short, placed, and with code that runs."""

import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import polars as pl
import pytest
import xarray
from jax.scipy.special import expit
from jax.scipy.stats import norm

import kinetograph as kg
from kinetograph.models.results_tree import tree_of


@pytest.fixture
def unknown():
    return kg.normal(0, 1, shape=2, name="unknown")


MODEL = kg.model(kg.normal(0, 1, name="x"))
MODEL_DRAWS = xarray.Dataset({"x": (("chain", "draw"), np.zeros((2, 3)))})
TREE = tree_of({"posterior": MODEL_DRAWS})


@pytest.mark.parametrize(
    ("write", "text"),
    [
        (
            kg.Model,
            r"Model: this class is not called .*; kg.model\(...\) makes a model .*wi",
        ),
        (lambda: kg.Model("schools"), "Model: this class is not called"),
        (lambda: kg.Model(coords={}), "Model: this class is not called"),
        (lambda: kg.Model("y ~ x", {}), r"; kg.formula\('y ~ x', frame\) makes one of a formula$"),
        (lambda: kg.mcmc(MODEL, inference_method="vi"), r"inference_method .*; kg.mcmc.*kg.advi"),
        (lambda: kg.mcmc(MODEL, backend="cmdstanr"), "backend .*; leave it out, as JAX compiles"),
        (lambda: kg.predict(MODEL, TREE, predictions=True), "leave it out: .* form this group"),
        (lambda: kg.predict(MODEL, TREE, progressbar=False), "is False, .*; keywords name the qua"),
        (lambda: kg.sort(np.ones(3), descending=True), r"largest first are -kg.sort\(-x\)"),
        (lambda: kg.argsort(np.ones(3), reverse=True), r"largest first are kg.argsort\(-x\)"),
        (
            lambda: MODEL.__enter__(),
            "does not begin a `with` block .*; write the lines",
        ),
        (
            lambda: kg.data("x", [1.0]),
            r"'x' is given before .*kg.data\(values, name='x'\)",
        ),
        (
            lambda: kg.observe("y", kg.normal(0, 1), [1.0]),
            r"'y' is given in place of .*kg.observe\(data, distribution, name='y'\)",
        ),
        (lambda: kg.observe("y", kg.normal(0, 1)), r"observe: the name 'y' is given in place"),
        (lambda: kg.switch(kg.normal(0, 1) > 0, 1.0, 2.0), r"kg.where\(condition, x, y\) chooses"),
        (lambda: kg.mcmc(MODEL, init="adapt_diag"), r"init .*; leave it out: warm-up .*initial={"),
        (
            lambda: kg.mcmc(MODEL, idata_kwargs={}),
            r"idata_kwargs .*kg.log_likelihood\(model",
        ),
        (lambda: kg.mcmc(MODEL, nuts_sampler="numpyro"), r"leave it out: .*kg.samplers.NUTS\(\)"),
        (lambda: kg.mcmc(MODEL, control={}), r"settings belong to the sampler, as in kg.samplers"),
        (lambda: kg.mcmc(MODEL, discard_tuned_samples=False), "give keep_warmup=True to keep them"),
        (lambda: kg.mcmc(MODEL, iter=2000), "give draws=, without the warm-up that iter of rstan"),
        (lambda: kg.samplers.NUTS(MODEL), r"a model is given to the run: kg.mcmc\(model, sampler"),
        (lambda: kg.mixture([kg.normal(0, 1)], [1.0]), r"write kg.mixture\(a, b, weights=\["),
        (
            lambda: kg.summary(MODEL, round_to=2),
            r"write kg.summary\(results\).to_datafr",
        ),
        (lambda: kg.observe([1.0], 0.0, 1.0), r"got the number 1.0 .*kg.normal\(0.0, 1.0\)"),
        (lambda: kg.compare((MODEL, 1), (MODEL, 2)), r"kg.compare\(\{\"linear\": \(model, results"),
        (lambda: kg.kfold(MODEL, 5), "kfold: expected results .*, got the number 5"),
        (lambda: kg.report(MODEL, TREE), r"wrong way round .*; write kg.report\(results, model\)$"),
        (lambda: kg.loo(TREE, MODEL), r"wrong way round .*; write kg.loo\(model, results\)$"),
        (lambda: kg.loo(MODEL, TREE, pointwise=True), "elpd_i and pareto_k of the result"),
        (lambda: kg.formula("y ~ x", {}, weights=[1]), r"write 'y \| weights\(w\) ~"),
        (lambda: kg.loo(TREE), r"loo: the model is missing .*; write kg.loo\(model, results\)$"),
        (lambda: kg.extra_samples(MODEL, TREE), r"write kg.extra_samples\(results, model\)$"),
        (lambda: kg.mcmc(MODEL, data={}), r"data belong to the model: kg.observe\(data, distrib"),
    ],
)
def test_calls(write, text):
    with pytest.raises(TypeError, match=text):
        write()


OF_FORMULA = {
    "categorical": r"write C\(g\) in the formula",
    "auto_scale": "leave it out: only default priors are scaled",
    "center_predictors": "leave it out: columns are centred",
    "contrasts": r"write it in the formula: 'y ~ C\(g, Sum\)'",
    "knots": "write it in the formula",
    "potentials": r"write the model with arrays, where kg.factor\(term\)",
    "sparse": "leave it out",
    "algorithm": r"kg.mcmc\(model\) samples by NUTS, .*kg.advi\(model\)",
    "backend": r"it belongs to kg.mcmc\(model\): leave it out, as JAX",
    "control": r"it belongs to kg.mcmc\(model\): settings belong to the sampler, as in kg.samplers",
    "inference_method": r"it belongs to kg.mcmc\(model\): kg.mcmc\(model\) samples",
    "chains": r"it is an option of the run: kg.mcmc\(model, chains=",
}


@pytest.mark.parametrize("word", OF_FORMULA)
def test_arguments_of_bambi_and_brms(word):
    text = rf"formula: unknown parameter {word} \(.*\.py:\d+\); {OF_FORMULA[word]}"
    with pytest.raises(TypeError, match=text):
        kg.formula("y ~ x", {}, **{word: 1})


FUNCTIONS_OF_FORMULAS = """
    brm bf update prior set_prior get_prior default_prior prior_summary posterior_predict
    posterior_epred posterior_linpred posterior_summary pp_check loo_compare log_lik reloo waic
    conditional_effects hypothesis fixef ranef VarCorr as_draws_df bayes_factor bridge_sampler
    stancode standata Prior Likelihood Family Link interpret predictions slopes comparisons
    plot_comparisons avg_slopes add_criterion fitted lf loo_model_weights prior_draws
"""


@pytest.mark.parametrize("name", FUNCTIONS_OF_FORMULAS.split())
def test_functions_of_bambi_and_brms(name):
    """None is answered by a name that is only written alike."""
    with pytest.raises(AttributeError, match=rf"attribute '{name}'; .*(?:kg\.|\w\()") as caught:
        getattr(kg, name)
    assert "did you mean" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("draw", r"kg.calculate\(x, draws=10\), which gives arrays by name"),
        (
            "from_netcdf",
            r"xarray.open_datatree\(path\) reads results that results.to_net",
        ),
        ("LKJCholeskyCov", r"here it is sd\[:, None\] \* kg.lkj_cholesky\(eta, n\)"),
        ("brm", r"here it is kg.formula\(text, frame, family=...\)"),
        ("parameters", r"a model has no blocks: kg.normal\(0, 1\) makes a parameter"),
        ("dist", "distributions are functions of kg, as kg.normal"),
        ("real", r"here it is kg.variable\(lower, upper\)"),
        ("save", r"results.to_netcdf\(path\) writes results, and kg.save_graph\(path, arrays\)"),
        ("load", r"xarray.open_datatree\(path\) reads results, and kg.load_graph"),
    ],
)
def test_names(name, text):
    with pytest.raises(AttributeError, match=text):
        getattr(kg, name)


@pytest.mark.parametrize(
    ("use", "text"),
    [
        (
            jnp.exp,
            r"jax.numpy.exp computes .* of unknown is not .*.py:\d+\); write kg.exp",
        ),
        (jnp.sum, r"jax.numpy.sum .*; write kg.sum\(...\)"),
        (lambda x: jnp.dot(np.ones(2), x), "jax.numpy.dot .*; np.dot takes arrays"),
        (lambda x: jnp.where(x > 0, x, 0), r"jax.numpy.where .*; write kg.where\(...\)"),
        (lambda x: jnp.array([x, x]), r"jax.numpy.array .*; kg.stack\(\[...\]\) joins arrays"),
        (jnp.asarray, "jax.numpy.asarray .* an array itself is taken as it is"),
        (lambda x: jnp.ones(3).at[0].set(x), r"write kg.data\(x\).at\[i\].set\(value\)"),
        (expit, "jax.scipy.special.expit .*; here it is kg.ilogit"),
        (norm.logpdf, r"jax.scipy.stats.norm.logpdf .*; write kg.log_density\(kg.normal\(...\), x"),
        (
            lambda x: jax.jit(lambda y: y)(x),
            r"jax.jit .*; here it is kg.compile\(inputs, out",
        ),
        (lambda x: jax.grad(lambda y: y)(x), r"jax.grad .*; here it is kg.gradients\(y, xs\)"),
        (lambda x: jax.vmap(lambda y: y)(x), r"jax.vmap .*; write kg.vmap\(...\)"),
        (lambda x: pl.Series([1.0, 2.0]) @ x, r"polars.*; write kg.data\(series\) @ unknown"),
    ],
)
def test_functions_of_jax_and_polars(use, text, unknown):
    with pytest.raises(kg.StagingError, match=text):
        use(unknown)


def test_operators_of_jax_and_tables(unknown):
    """They leave the operation to the array, or the message has the operator."""
    assert (jnp.ones(2) * unknown).shape == (2,)
    assert (jnp.ones(2) @ unknown).shape == ()
    with pytest.raises(AttributeError, match=r"pandas.DataFrame.mul .*operator: df \* x$"):
        pd.DataFrame({"x": [1.0, 2.0]}).mul(kg.normal(0, 1))
    with (
        pytest.warns(kg.KinetographWarning, match=r"write series.to_numpy\(\) \* normal"),
        pytest.raises(TypeError),
    ):
        pl.Series("s", [1.0, 2.0]) * kg.normal(0, 1)


def test_a_kernel_of_gaussian_processes_is_not_a_function_of_numpy():
    with pytest.raises(AttributeError) as caught:
        kg.gp.cov.ExpQuad(1)
    assert str(caught.value).endswith("; kernels are functions of kg.gp; here it is kg.gp.rbf")
    with pytest.raises(AttributeError, match=r"; kernels are functions of kg.gp; .* 'matern52'\?$"):
        kg.gp.cov.Matern52(1, ls=2)
    with pytest.raises(AttributeError, match=r"'cov'; kernels are functions of kg.gp$"):
        cov = kg.gp.cov  # noqa: F841


def test_attributes_of_arrays(unknown):
    with pytest.raises(AttributeError, match=r"'expand'.*; shape= or dims= of a distribution"):
        unknown.expand([3])
    with pytest.raises(AttributeError, match=r"'set_value'.*; model.set_data\(unknown=...\)"):
        unknown.set_value(3)


@pytest.mark.parametrize("labels", [[1, 2, 3], [3, 1]])
def test_labels_from_one(labels):
    with pytest.raises(kg.DataError, match="the smallest is 1: do the labels start at 1"):
        kg.observe(labels, kg.categorical([0.2, 0.3, 0.5]))
    with pytest.raises(kg.DataError, match=r"data is 3 at index 0 \(.*py:\d+\)$"):
        kg.observe([3, 0], kg.categorical([0.2, 0.3, 0.5]))


def test_a_key_as_seed():
    with pytest.raises(ValueError, match="keys are made from a number, as in seed=1"):
        kg.mcmc(MODEL, seed=jax.random.PRNGKey(0))


def test_the_order_of_time_and_state():
    with pytest.warns(kg.KinetographWarning, match=r"f is called as f\(t, y\), .* are y, t .*time"):
        kg.ode.solve(lambda y, t: -y, 1.0, [0.0, 1.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kg.ode.solve(lambda t, y: -y, 1.0, [0.0, 1.0])


def test_attributes_of_results():
    results = tree_of({"posterior": MODEL_DRAWS, "sample_stats": MODEL_DRAWS})
    text = r"results\['posterior'\].to_dataset\(\).to_dataframe\(...\)"
    for tree in (results, results["posterior"]):
        with pytest.raises(AttributeError, match=rf"'to_dataframe' is not in .*has it: {text}"):
            tree.to_dataframe()
    assert len(results["posterior"].to_dataset().to_dataframe()) == 6
    with pytest.raises(AttributeError, match=r"they hold posterior, .*; it is a function: kg.summ"):
        results.summary()
    assert results.sel(chain=0)["posterior"]["x"].shape == (3,)
