"""Argument names of other libraries, and the parameters here.

The libraries are PyMC, NumPyro, TFP, Stan, BUGS, greta, SciPy, torch and scikit-learn.
`WORDS_BY_PARAMETER` has for each parameter of kinetograph the names in other libraries; `WORDS` is
the inverse. If a name means several parameters, the first that the function has is suggested.
"""

__all__ = ["SPREAD", "STEPS", "WORDS", "WORDS_BY_PARAMETER"]

_PLACE = "loc mean median mu"
SPREAD = "scale sd sigma std stddev stdev standard_deviation"

DISTRIBUTIONS = {
    "mean": "loc location median mu",
    "mu": f"{_PLACE} location",
    "location": f"{_PLACE} xi",
    "meanlog": f"{_PLACE} location",
    "sd": f"{SPREAD} amplitude b eta",
    "sigma": f"{SPREAD} b",
    "scale": f"{SPREAD} S V beta gamma omega s scale_matrix",
    "sdlog": f"{SPREAD} b s",
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
GENERAL = {
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

WORDS_BY_PARAMETER: dict[str, tuple[str, ...]] = {}
WORDS: dict[str, tuple[str, ...]] = {}
for _table in (NETWORKS, GENERAL, RUNS, DISTRIBUTIONS):
    for _name, _text in _table.items():
        _words = (word for word in _text.split() if word != _name)
        WORDS_BY_PARAMETER[_name] = (*WORDS_BY_PARAMETER.get(_name, ()), *_words)
for _name, _others in WORDS_BY_PARAMETER.items():
    for _word in _others:
        WORDS[_word] = (*WORDS.get(_word, ()), _name)
