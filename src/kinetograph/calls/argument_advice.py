"""Advice for arguments that have no counterpart of their own here.

It answers arguments of functions of other libraries, arguments in a place that does not fit, and
settings that belong to another function.
"""

from .argument_names import SPREAD

__all__ = [
    "COMPUTED",
    "OF_CALLS",
    "OF_CLASSES",
    "OF_COUNTS",
    "OF_MISSING",
    "OF_SURPLUS",
    "REMARKS",
    "SETTINGS",
]

_PENALTIES = {
    "l2": "a normal prior is a penalty w^2 / (2 prior^2): give prior=1 / sqrt(2 * l2)",
    "weight_decay": (
        "a normal prior is a penalty w^2 / (2 prior^2): give prior=1 / sqrt(weight_decay)"
    ),
}
_ENSEMBLES = _PENALTIES | dict.fromkeys(
    ("hidden", "hidden_dimension", "hidden_layer_sizes", "hidden_layers", "hidden_sizes", "layers"),
    "give the widths as network=(16, 16), or network=kg.neural.mlp([16, 16])",
)

_OF_PRIOR = "kg.simulate(model) draws from the prior"
_OF_FORMULAS = dict.fromkeys(("formula", "family", "prior"), "kg.formula(text, frame) makes models")
_OTHER_METHODS = (
    "kg.mcmc(model) samples by NUTS, or by sampler=; kg.advi(model), kg.pathfinder(model) and "
    "kg.laplace_approximation(model) approximate"
)

# Advice for words that have another meaning in other libraries: by function, then by word. Each
# distribution adds its advice.
OF_CALLS: dict[str, dict[str, str]] = {
    "solve": dict.fromkeys(
        ("args", "theta", "params"), "f reads arrays from its enclosing scope; leave it out"
    )
    | {"t_span": "give all times by ts; y0 is the value at the first"},
    **{
        name: {
            "input_dim": "a kernel takes points of any dimension; leave it out",
            "X": "points are given to the kernel: kernel(x)",
        }
        for name in ("rbf", "matern12", "matern32", "matern52", "periodic", "linear")
    },
    "mcmc": {
        "init": "leave it out: warm-up finds scales; give starting values by initial={...}",
        "nuts_sampler": "leave it out: the default is kg.samplers.NUTS(), compiled by JAX",
        **dict.fromkeys(
            ("nuts", "nuts_kwargs", "nuts_sampler_kwargs", "step_kwargs", "control"),
            "settings belong to the sampler, as in kg.samplers.NUTS(target_acceptance=0.9)",
        ),
        "inference_method": _OTHER_METHODS,
        "backend": "leave it out, as JAX compiles all models, or store draws by store=path",
        "idata_kwargs": (
            "results are always in ArviZ's schema; kg.log_likelihood(model, results) adds the log "
            "likelihood"
        ),
        "discard_tuned_samples": "give keep_warmup=True to keep them",
        "discard_warmup": "give keep_warmup=True to keep it",
        "quiet": "give progress=False",
        "iter": "give draws=, without the warm-up that iter of rstan and brms includes",
        "data": (
            "data belong to the model: kg.observe(data, distribution) before kg.model, or "
            "kg.formula(text, data)"
        ),
        **_OF_FORMULAS,
        **dict.fromkeys(("prior_only", "sample_prior"), _OF_PRIOR),
        **dict.fromkeys(
            (
                *("blas_cores", "compile_kwargs", "include_mean", "include_response_params"),
                *("jit_model_args", "jitter_max_retries", "keep_warning_stat", "mp_ctx", "n_init"),
                *("omit_offsets", "postprocess_fn"),
            ),
            "leave it out",
        ),
    },
    "Simulation": _PENALTIES
    | {
        **dict.fromkeys(
            ("dataset", "data", "X", "x"),
            "data are a pair: Simulation([X, Y]), or dataset = [X, Y]",
        ),
        "network": "it is given where the simulation is made: Simulation([X, Y], network)",
        "device": "JAX chooses the device, as with the environment variable JAX_PLATFORMS=cpu",
        "dtype": "here it is called 'precision'",
    },
    "EnsembleRegressor": _ENSEMBLES,
    "EnsembleClassifier": _ENSEMBLES,
    "sort": dict.fromkeys(("descending", "reverse"), "the largest first are -kg.sort(-x)"),
    "argsort": dict.fromkeys(("descending", "reverse"), "the largest first are kg.argsort(-x)"),
    "extra_samples": dict.fromkeys(
        ("burn_in", "burnin", "num_warmup", "tune", "warmup"), "a continued run has no warm-up"
    ),
    "compare": {
        "ic": "leave it out: the criterion is that of kg.loo, or method='evidence'",
        "scale": "leave it out: the scale is that of the log density",
    },
    "summary": {
        **dict.fromkeys(
            ("order", "sort", "sort_by"),
            "write kg.summary(results).to_dataframe().sort_values('mean')",
        ),
        "group": "write kg.summary(results['predictions'])",
        **dict.fromkeys(
            ("percentiles", "quantiles"), "probability=0.95 has the quantiles q2.5 and q97.5"
        ),
        "round_to": "write kg.summary(results).to_dataframe().round(2)",
        **dict.fromkeys(
            ("fmt", "kind", "stat_funcs", "stat_focus"),
            "arviz_stats.summary(results) has it and takes results as they are",
        ),
    },
    "observe": {
        **_OF_FORMULAS,
        **dict.fromkeys(
            ("sample_weight", "weight", "weights"),
            "weights multiply log densities: "
            "kg.factor(weights * kg.log_density(kg.normal(mu, sd), data))",
        ),
        **dict.fromkeys(
            ("obs", "observed"), "write kg.observe(data, distribution), with the data first"
        ),
        **dict.fromkeys(
            (*("loc", "logit", "logits", "mean", "mu", "p", "prob", "probs"), *SPREAD.split()),
            "it is a parameter of the distribution: kg.observe(data, kg.normal(mu, sd))",
        ),
        **dict.fromkeys(
            ("censoring", "censored", "shape", "truncation"),
            "it is a parameter of the distribution, as in kg.observe(data, "
            "kg.normal(mu, sd, censoring=(None, bounds)))",
        ),
    },
    "predict": {
        **dict.fromkeys(
            ("allow_new_levels", "sample_new_groups", "sample_new_levels"),
            "give new_levels='draw' to draw the effects of new levels",
        ),
        **dict.fromkeys(
            ("include_group_specific", "include_random_effects", "re_form", "re_formula"),
            "give group_effects=False to leave out the effects of groups",
        ),
        **dict.fromkeys(
            ("extend_inferencedata", "inplace"),
            "leave it out: the results come back with the new group",
        ),
        "predictions": (
            "leave it out: new quantities, as y_new=kg.normal(a + b * x_new, sd), form this group"
        ),
        "kind": "model.predict(results, new, kind='mean') of a model of kg.formula has it",
    },
    "formula": {
        **dict.fromkeys(("prior_only", "sample_prior"), _OF_PRIOR),
        "autocor": "formulas have no series: write the model with kg.ar",
        "weights": "write 'y | weights(w) ~ ...', where w is a column",
        "offset": "write it in the formula: 'y ~ x + offset(log(e))'",
        "exposure": "write it in the formula: 'y ~ x + offset(log(e))'",
        "trials": "write 'y | trials(n) ~ ...', where n is a column",
        **dict.fromkeys(("dropna", "na_action"), "leave missing values out by data.dropna()"),
        "noncentered": "leave it out: kg.mcmc chooses the parametrisation during warm-up",
        "categorical": "write C(g) in the formula, or give the column the type category",
        "contrasts": "write it in the formula: 'y ~ C(g, Sum)'",
        "knots": "write it in the formula: 'y ~ bs(x, knots=[0, 1])'",
        "subset": "select the rows of the data frame before",
        "auto_scale": "leave it out: only default priors are scaled",
        "center_predictors": (
            "leave it out: columns are centred if there is an intercept, and b_Intercept is for "
            "columns as given"
        ),
        "potentials": "write the model with arrays, where kg.factor(term) adds a term",
        "algorithm": _OTHER_METHODS,
        "extra_namespace": "leave it out: formulas use the variables around the call",
        **dict.fromkeys(
            ("drop_unused_levels", "normalize", "save_model", "save_pars", "sparse"), "leave it out"
        ),
    },
    "simulate": {"var_names": "all unknowns and data are drawn: kg.simulate(model)['prior']['mu']"},
    "advi": {"method": "rank= adds covariances of the unknowns; without it they are independent"},
    "HMC": dict.fromkeys(
        ("path_length", "trajectory_length"), "give n_steps=, the length divided by step_size"
    ),
    "model": _OF_FORMULAS
    | dict.fromkeys(
        ("label", "name"), "a model has no name, and keywords name its targets; leave it out"
    ),
    "groups": dict.fromkeys(("dim", "dims"), "here it is called name"),
    "loo": {"pointwise": "leave it out: elpd_i and pareto_k of the result are of observations"},
    "scan": {"non_sequences": "f reads arrays from its enclosing scope; leave it out"},
    "compile": {
        "updates": "an update is an output: state.assign(value), or state.assign_add(value)",
        "givens": "compile the outputs of other placeholders, or take kg.do(model, ...)",
        **dict.fromkeys(("mode", "on_unused_input", "allow_input_downcast"), "leave it out"),
    },
}
# Advice for calls of classes that functions make, with too many values, or with too few.
OF_CLASSES = {
    "Model": (
        "kg.model(...) makes a model of arrays, without a `with` block: mu = kg.normal(0, 1), then "
        "model = kg.model(mu); kg.formula('y ~ x', frame) makes one of a formula"
    ),
}
# Advice for a number of draws, where a function takes none.
OF_COUNTS = {
    "predict": (
        "it makes one draw for each draw of the results: leave it out, or give a tenth of the "
        "draws by results.isel(draw=slice(None, None, 10))"
    ),
}
OF_SURPLUS = {
    "ensemble": "inputs and labels are a pair: write kg.neural.ensemble(network, (X, y))",
    "condition": "write kg.condition(model, mu=1.0), with the names of unknowns",
    "observe": "write kg.observe(data, kg.normal(mean, sd)), with the distribution called",
    "compare": 'give the models by name, as in kg.compare({"linear": (model, results), ...})',
    "set_data": "write model.set_data(x=values), with the name of the data",
    "switch": "kg.where(condition, x, y) chooses elements; branches here are a list of functions",
}
OF_MISSING = {
    "compare": 'give the models by name, as in kg.compare({"linear": (model, results), ...})',
    "dim": 'the name comes first, as in kg.dim("group", ["a", "b"])',
    "mixture": "write kg.mixture(a, b, weights=[0.3, 0.7]) of distributions a and b",
    "predict": "write kg.predict(model, results) with the model of the results",
}
# Parameters of other libraries that are functions of ones here; the first match is suggested.
COMPUTED = {
    "temperature": (("inverse_temperature", "1 / temperature"),),
    "mean": (("rate", "1 / mean"),),
    "precision": (("sd", "1 / sqrt(precision)"),),
    "scale": (("rate", "1 / scale"),),
    "lam": (("sigma", "1 / sqrt(lam)"),),
    "tau": (
        ("sd", "1 / sqrt(tau)"),
        ("sigma", "1 / sqrt(tau)"),
        ("scale", "1 / sqrt(tau)"),
        ("sdlog", "1 / sqrt(tau)"),
    ),
    "theta": (("rate", "1 / theta"),),
    "var": (("sd", "sqrt(var)"),),
    "variance": (("sd", "sqrt(variance)"),),
}
# Settings of a sampler or optimiser, which other libraries take as arguments of the run.
SETTINGS = {
    "sampler": {
        "target_acceptance": "kg.samplers.NUTS(target_acceptance=...)",
        "max_depth": "kg.samplers.NUTS(max_depth=...)",
        "step_size": "kg.samplers.NUTS(step_size=...)",
        "n_steps": "kg.samplers.HMC(n_steps=...)",
        "metric": "kg.samplers.NUTS(metric=...)",
    },
    "optimizer": {
        "learning_rate": "kg.optimizers.adam(learning_rate=...)",
        "memory": "kg.optimizers.lbfgs(memory=...)",
    },
}
# Advice on words whose subject belongs to another function; {0} is the function called.
_DATA_BY_OBSERVE = "data are given by kg.observe(data, kg.{0}(...))"
_START = "give the starting values of chains by kg.mcmc(..., initial={{...}})"
REMARKS = {
    **dict.fromkeys(("observed", "obs", "data"), _DATA_BY_OBSERVE),
    "dims": "dims are named where arrays are made, as in kg.data(values, dims=...)",
    "transform": (
        "constraints belong to variables such as x = kg.ordered_variable(...), which get a prior "
        "by kg.factor(kg.log_density(kg.{0}(...), x))"
    ),
    **dict.fromkeys(
        ("mask", "obs_mask"),
        "leave rows out by an index, as in kg.observe(y[rows], kg.{0}(mean[rows], 1))",
    ),
    "offset": "add it to the parameter, as in kg.poisson(log_rate=offset + mean)",
    "exposure": "multiply the parameter by it, as in kg.poisson(exposure * rate)",
    "infer": "discrete unknowns are marginalised automatically; leave it out",
    "mutable": "all data can be changed, by model.set_data(...); leave it out",
    **dict.fromkeys(("initval", "testval", "test_value"), _START),
    "total_size": "mini-batches are made by kg.minibatch(model, size)",
    "coords": "labels of dims are given by dims=kg.dim(name, labels), or by kg.model(coords=)",
    **dict.fromkeys(
        ("return_inferencedata", "idata_kwargs"),
        "results are always in ArviZ's schema; leave it out",
    ),
    **dict.fromkeys(
        ("timeout", "max_time", "time_limit"),
        "callback= is called while draws are taken, and stops the run when it returns True",
    ),
    "one_by_one": "each chain is always checked for values that are not finite; leave it out",
    "compute_convergence_checks": "convergence is always checked; leave it out",
}
