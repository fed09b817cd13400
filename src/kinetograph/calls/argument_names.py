"""Argument names of other libraries, and the parameters here.

The libraries are PyMC, NumPyro, TFP, Stan, BUGS, greta, SciPy, torch and scikit-learn. `OURS` lists
for each parameter of kinetograph the names in other libraries; `WORDS` is the inverse. If a name
means several parameters, the first that the function has is suggested.
"""

__all__ = [
    "COMPUTED",
    "OF_CALLS",
    "OF_CLASSES",
    "OF_COUNTS",
    "OF_MISSING",
    "OF_SURPLUS",
    "OURS",
    "REMARKS",
    "SETTINGS",
    "STEPS",
    "WORDS",
]

_PLACE = "loc mean median mu"
_SPREAD = "scale sd sigma std stddev stdev standard_deviation"

DISTRIBUTIONS = {
    "mean": "loc location median mu",
    "mu": f"{_PLACE} location",
    "location": f"{_PLACE} xi",
    "meanlog": f"{_PLACE} location",
    "sd": f"{_SPREAD} amplitude b eta",
    "sigma": f"{_SPREAD} b",
    "scale": f"{_SPREAD} S V beta gamma omega s scale_matrix",
    "sdlog": f"{_SPREAD} b s",
    "rate": "beta lam lambda_ lambd",
    "log_rate": "log_lam eta",
    "prob": "p probs probabilities success_prob theta",
    "logit": "logits logit_p eta",
    "size": "n n_trials r total_count trials batch batch_size",
    "zero": "gate",
    "shape1": "a alpha concentration1",
    "shape2": "b beta concentration0",
    "alpha": "a c conc concentration k shape",
    "a": "alpha shape",
    "b": "m scale xm x_m",
    "beta": "b scale",
    "eta": "concentration predictor",
    "cutpoints": "cuts thresholds c",
    "kappa": "asymmetry concentration symmetry",
    "df": "dof nu n",
    "df1": "dfn d1",
    "df2": "dfd d2",
    "lam": "concentration lambda_ lambd",
    "rho": "ar_coefs coefs",
    "dim": "d dimension length n n_steps num_steps steps",
    "drift": "mu",
    "init_mean": "init_loc",
    "init_sd": "init_scale",
    "cov": "Sigma covariance covariance_matrix sigma",
    "precision": "Tau precision_matrix tau",
    "chol": "L cholesky scale_tril",
    "row_cov": "rowcov",
    "col_cov": "colcov",
    "row_chol": "rowchol",
    "col_chol": "colchol",
    "min": "a a_min low lower minval",
    "max": "a_max b high maxval upper",
    "distributions": "comp_dists component_distributions components",
    "weights": "mix mixing_distribution pi w",
    "transition": "P trans transition_matrix transition_probs",
    "length": "num_steps ell length_scale lengthscale ls n_steps steps",
    "shape": "batch_shape sample_shape support_shape",
    "dims": "axes dim dimensions plate plates",
    "name": "label site var_name",
    "lower": "a_min lb low lower_bound min minimum minval",
    "upper": "a_max ub high upper_bound max maximum maxval",
}
RUNS = {
    "simulations": "n_sim n_simulations n_sims nsim nsims num_simulations sims",
    "draws": (
        "iter iter_sampling iterations n n_draws n_iter n_samples ndraws niter nsamples n_sims "
        "nsim nsims num_draws num_iter num_iters num_posterior_samples num_results num_samples "
        "samples"
    ),
    "warmup": (
        "adapt burn burn_in burnin iter_warmup n_adapt n_burn n_burnin n_tune n_warmup nadapt "
        "nburn num_adaptation_steps num_burnin num_burnin_steps num_tune num_warmup nwarmup tune "
        "warm_up warmup_steps"
    ),
    "chains": "n_chain n_chains nchains num_chains",
    "seed": "key metaseed prng_key random_seed random_state rng rng_key rng_seed set_seed",
    "metaseed": "key random_seed random_state rng rng_key seed",
    "threads": (
        "cores mc_cores mp_cores n_cores n_jobs n_threads njobs num_cores num_processes "
        "num_threads parallel_chains workers"
    ),
    "chain_method": "batch parallel vectorized",
    "address": "coordinator_address master_addr",
    "processes": "num_processes nprocs n_processes world_size",
    "process": "process_id process_index rank",
    "devices": "device device_count device_mesh mesh n_devices num_devices",
    "shard": "data_sharding shard_data shard_rows sharding",
    "initial": (
        "current_state init init_method init_params init_state init_strategy init_values inits "
        "init_dist initial_point initial_state initial_values initvals p0 q0 start starting x0 "
        "initial_probs"
    ),
    "progress": (
        "progress_bar progressbar pb_update quiet refresh show_messages show_progress verbose"
    ),
    "thin": "n_thin nthin num_steps_between_results thin_by thinning",
    "sampler": "algorithm kernel mcmc_kernel method nuts_sampler step transition_kernel",
    "keep_warmup": "discard_tuned_samples discard_warmup save_warmup",
    "keep": "monitor parameters_to_save pars trace var_names",
    "names": "filter_vars params parameters pars var_names variables vars",
    "probability": "alpha ci_prob credible_interval hdi_prob interval prob q",
    "store": "backend file filename output output_dir sample_file save_to trace",
    "path": "file filename fname",
    "checkpoint_every": "checkpoint checkpoint_interval save_every",
    "callback": "callbacks",
    "observables": "collect extra_fields record track",
    "results": "fit idata inference_data posterior result samples trace tree",
    "tree": "fit idata inference_data posterior result results samples trace",
    "ess": "min_ess target_ess",
    "r_hat": "max_rhat rhat",
    "data": "obs observed value x values y",
    "value": "array data obs values x y",
    "values": "data given point",
    "step_size": "delta_t dt eps epsilon h lr learning_rate scaling step step_scale stepsize",
    "n_steps": (
        "L int_steps leapfrog_steps n_leapfrog nsteps num_integration_steps num_leapfrog_steps "
        "num_steps steps"
    ),
    "target_acceptance": (
        "adapt_delta delta target_accept target_accept_prob target_accept_rate "
        "target_acceptance_rate"
    ),
    "max_depth": (
        "max_doublings max_num_doublings max_tree_depth max_treedepth tree_depth treedepth"
    ),
    "friction": "gamma",
    "inverse_temperature": "beta",
    "metric": (
        "dense_mass full_mass inv_mass_matrix inv_metric inverse_mass_matrix mass mass_matrix"
    ),
    "width": "w",
    "walkers": "n_walkers num_walkers nwalkers",
}
OTHERS = {
    "text": "formula",
    "learning_rate": "alpha eta lr step_size stepsize",
    "b1": "beta1 beta_1",
    "b2": "beta2 beta_2",
    "decay": "alpha decay_rate rho",
    "memory": "history history_size m maxcor num_correction_pairs",
    "max_iterations": (
        "iter iterations max_iter max_iters max_steps maxeval maxiter n n_iter n_iterations "
        "n_steps niter num_iter num_iters num_steps steps"
    ),
    "tolerance": "atol ftol gtol rtol tol tol_rel_obj xtol",
    "optimizer": "algorithm method opt optim",
    "starts": "n_restarts n_starts num_restarts num_starts restarts",
    "paths": "n_paths num_paths",
    "elbo_draws": "elbo_samples num_elbo_draws num_elbo_samples num_particles obj_n_mc",
    "axis": "axes dim dims",
    "keepdims": "keep_dims keepdim",
    "x": "a array data input tensor value values",
    "y": "b other",
    "arrays": "tensors xs",
    "dtype": "type",
    "missing": "na",
    "f": "body fn fun func function rhs vector_field",
    "function": "f fn fun func",
    "body": "body_fn body_fun f",
    "cond": "cond_fn cond_fun pred predicate",
    "pred": "cond condition predicate",
    "true_fn": "then then_branch true_fun",
    "false_fn": "else_ else_branch false_fun orelse",
    "replace": "replacement with_replacement",
    "streams": "rng",
    "centre": "c center",
    "basis": "m n_basis",
    "boundary": "L c",
    "noise": "sigma",
    "period": "T p",
    "term": "logp value x",
    "default": "initial value",
    "log_density": "log_prob logdensity logp lpdf",
    "draw": "random rng_fn",
    "event_ndim": "event_dim ndim_supp",
    "init": "carry init_carry initializer outputs_info",
    "xs": "elems sequences",
    "reverse": "go_backwards",
    "loop_vars": "init_val",
    "rtol": "rel_tol reltol",
    "atol": "abs_tol abstol",
    "t0": "initial_time",
    "max_step": "hmax max_dt",
    "max_steps": "max_num_steps mxstep",
    "y0": "init initial initial_state u0 z0",
    "ts": "saveat t t_eval time times",
    "jump_ts": "jumps",
    "new": "X data new_data newdata",
}

NETWORKS = {
    "step_width": "delta_t dt eps epsilon h step_size stepsize",
    "friction_constant": "friction gamma",
    "burn_in_steps": "burn_in burnin n_burnin num_warmup tune warmup",
    "every_nth": "thin thinning",
    "number_walkers": "chains n_chains n_walkers num_chains num_walkers nwalkers walkers",
    "hidden_dimension": (
        "hidden hidden_layer_sizes hidden_layers hidden_sizes layers n_hidden units widths"
    ),
    "hidden_activation": "activation activations",
    "optimizer": "optimiser solver",
    "schedule": "learning_rate_schedule lr_scheduler scheduler",
    "batch_size": "batchsize minibatch minibatch_size",
    "loss": "criterion loss_fn loss_function objective",
    "fix_parameters": "fixed freeze frozen",
    "dropout": "dropout_rate",
    "members": "ensemble_size n_estimators n_members num_members",
    "epochs": "max_epochs max_iter n_epochs n_iter num_epochs",
    "held_out": "test_size validation_fraction validation_split",
    "patience": "early_stopping n_iter_no_change",
}

# Words for `max_steps` of a simulation; the steps of a differential equation are something else.
STEPS = (
    *("draws", "epochs", "iterations", "max_epochs", "max_iter", "n_epochs", "n_iter", "n_samples"),
    *("n_steps", "num_epochs", "num_iter", "num_samples", "num_steps", "steps"),
)

OURS: dict[str, tuple[str, ...]] = {}
WORDS: dict[str, tuple[str, ...]] = {}
for _table in (NETWORKS, OTHERS, RUNS, DISTRIBUTIONS):
    for _name, _text in _table.items():
        OURS[_name] = (*OURS.get(_name, ()), *(word for word in _text.split() if word != _name))
for _name, _words in OURS.items():
    for _word in _words:
        WORDS[_word] = (*WORDS.get(_word, ()), _name)

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
            (*("loc", "logit", "logits", "mean", "mu", "p", "prob", "probs"), *_SPREAD.split()),
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
_SEEN = "data are given by kg.observe(data, kg.{0}(...))"
_START = "give the starting values of chains by kg.mcmc(..., initial={{...}})"
REMARKS = {
    **dict.fromkeys(("observed", "obs", "data"), _SEEN),
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
