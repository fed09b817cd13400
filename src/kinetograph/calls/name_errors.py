"""Errors for public names that do not exist.

The message suggests a similar name, or the name here of another library's function.
"""

from collections.abc import Iterable
from importlib import import_module
from inspect import isroutine, signature

from ..graph.hooks import ON_MISSING, ON_UNKNOWN_NAME
from ..graph.numpy.protocol import is_available
from ..graph.suggestions import closest, plain
from .other_libraries import ELSEWHERE
from .submodules import of_submodule, read_next

__all__ = ["no_attribute"]

# Attributes of other libraries' models and results, with the attribute or call here.
_ATTRIBUTES = {
    "Model": {
        **dict.fromkeys(("logp", "logpdf", "log_density", "lnprob", "logprob"), "log_prob"),
        **dict.fromkeys(("dlogp", "grad", "grad_log_prob"), "gradient"),
        "d2logp": "hessian",
        **dict.fromkeys(("fit", "infer", "run", "sample", "sampling"), "kg.mcmc(model)"),
        **dict.fromkeys(("draw", "graphviz", "to_graphviz", "render"), "plot()"),
        **dict.fromkeys(("find_map", "map", "optimize"), "kg.opt(model)"),
        **dict.fromkeys(
            ("basic_RVs", "free_RVs", "parameters", "params", "unknowns", "variables", "vars"),
            "names",
        ),
        **dict.fromkeys(
            ("draws", "idata", "posterior", "results", "samples", "trace"),
            "kg.mcmc(model)['posterior']",
        ),
        **dict.fromkeys(
            ("predict", "posterior_predict", "posterior_predictive", "sample_posterior_predictive"),
            "kg.predict(model, results)",
        ),
        **dict.fromkeys(("prior_predictive", "simulate"), "kg.simulate(model)"),
        **dict.fromkeys(("dump", "save"), "pickle.dump(model, file)"),
    },
    "DataTree": {
        "sample": "results['posterior'], with as many draws as draws= of their function",
        **dict.fromkeys(("add_groups", "extend"), "results.update(other), which adds groups"),
        "to_csv": "results['posterior'].to_dataset().to_dataframe().to_csv(...)",
    },
    "Point": {
        **dict.fromkeys(
            ("log_density", "log_prob", "logdensity", "logp", "logprob", "lp", "target_log_prob"),
            "-at.potential",
        ),
        **dict.fromkeys(("position", "state", "theta", "value", "x", "z"), "at.q"),
        **dict.fromkeys(("U", "energy", "neg_log_prob", "potential_energy"), "at.potential"),
        **dict.fromkeys(("grad", "force", "score"), "at.gradient, of the potential"),
    },
    "Hilbert": dict.fromkeys(("f", "latent", "prior"), "values"),
    "Process": {"prior": "latent(x)"},
    "Optimum": {
        **dict.fromkeys(("x", "params", "point", "estimates", "par"), "values"),
        "fun": "value",
        **dict.fromkeys(("success", "convergence"), "converged"),
        **dict.fromkeys(("nit", "niter"), "iterations"),
        **dict.fromkeys(("nfev", "njev"), "evaluations"),
        **dict.fromkeys(("se", "std_errors", "bse"), "standard_errors"),
    },
    "Summary": {
        **dict.fromkeys(
            ("loc", "iloc"), "table[column, row], or to_dataframe() with all of pandas'"
        ),
        **{
            name: f"table.to_dataframe().{name}{'' if name in ('T', 'values') else '(...)'}"
            for name in (
                *("T", "describe", "head", "plot", "query", "round", "sort_values", "tail"),
                *("to_csv", "to_markdown", "to_string", "values"),
            )
        },
        **dict.fromkeys(("to_pandas", "df", "dataframe"), "to_dataframe()"),
        **dict.fromkeys(("index", "rows"), "names"),
        **{
            name: f'table["{name}"]'
            for name in ["mean", "sd", "median", "ess_bulk", "ess_tail", "r_hat"]
        },
    },
}

_ATTRIBUTES["Simulation"] = {
    **dict.fromkeys(("optimize", "train", "train_model"), "fit(), which trains"),
    **dict.fromkeys(("mcmc", "run", "sampling"), "sample()"),
    **dict.fromkeys(("evaluate", "cost"), "loss()"),
    **dict.fromkeys(("params", "w", "weights"), "parameters"),
    **dict.fromkeys(("get_params", "options"), "get_options()"),
    "set_params": "set_options(...)",
    "summary": "kg.summary(records.to_tree()) of the records of sample()",
    **dict.fromkeys(("forward", "predict_proba"), "predict(X)"),
    **dict.fromkeys(("history", "losses"), "records.run_info of the records of fit() or sample()"),
}
_ENSEMBLE = dict.fromkeys(("coef_", "coefs_", "intercept_", "intercepts_"), "members_, their draws")
_ATTRIBUTES["EnsembleRegressor"] = _ENSEMBLE | {"predict_proba": "cdf(X, y)"}
_ATTRIBUTES["EnsembleClassifier"] = _ENSEMBLE | {
    **dict.fromkeys(("cdf", "predict_interval"), "predict_proba(X)"),
    "predict_log_proba": "log(predict_proba(X))",
}
_ATTRIBUTES["TrajectoryData"] = {
    **dict.fromkeys(("posterior", "sample_stats"), "to_tree()"),
    **dict.fromkeys(("loss", "losses"), "run_info['loss']"),
    **dict.fromkeys(("mean", "std", "to_csv", "head", "tail", "plot"), "a method of trajectory"),
}
_ATTRIBUTES["FormulaModel"] = _ATTRIBUTES["Model"] | {
    **dict.fromkeys(
        ("posterior_predict", "posterior_predictive", "sample_posterior_predictive"),
        "predict(results, new)",
    ),
    **dict.fromkeys(
        ("epred", "fitted", "posterior_epred", "predict_proba"),
        "predict(results, new, kind='mean')",
    ),
    "graph": "plot()",
    "summary": "kg.summary(results)",
    **dict.fromkeys(("build", "set_priors"), "kg.formula(text, frame, prior={...}), which builds"),
}

_ROOT = __name__.partition(".")[0]
# Modules that may have a name that was looked for in the package itself.
_WITHIN = ("samplers", "observables", "optimizers", "gp", "ode", "autograph", "streams")

# Libraries whose functions take arrays.
_LIBRARIES = {"np": "numpy", "np.linalg": "numpy.linalg", "scipy.special": "scipy.special"}

# Stan's functions of a distribution, by the end of their name.
_OF_STAN = {
    **dict.fromkeys(("lpdf", "lpmf", "lupdf", "lupmf"), "kg.log_density({0}, x)"),
    "lcdf": "kg.log_cdf({0}, x)",
    "lccdf": "kg.log_survival({0}, x)",
    "rng": "{0}, in kg.simulate(model) or kg.predict(model, results)",
}


@ON_UNKNOWN_NAME.fill
def no_attribute(module: str, name: str, names: Iterable[str]) -> AttributeError:
    """The error for a name that a module does not have.

    `names` are the names that the module has.
    """
    text = f"module {module!r} has no attribute {name!r}"
    # Tools look for private names in modules, and do not read the message.
    hint = "" if name.startswith("_") else _hint(module, name, list(names))
    # Without `obj`: Python would append a suggestion of its own.
    return AttributeError(text + hint, name=name)


@ON_MISSING.fill
def instead_of(kind: str, attribute: str) -> str:
    """Advice on an attribute of another library's object, or an empty text.

    `kind` is the class of the object; "jax" means JAX's functions.
    The advice is an attribute, a call or, in most cases, a function of kinetograph.
    """
    replacement = _ATTRIBUTES.get(kind, {}).get(attribute)
    if replacement is not None:
        return f"; here it is {replacement}"
    if kind == "jax" and callable(getattr(import_module(_ROOT), attribute, None)):
        return f"; write kg.{attribute}(...)"
    advice = ELSEWHERE.get(plain(attribute))
    if advice is not None:
        return f"; {advice}"
    if kind == "jax":
        return _hint(_ROOT, attribute, [])
    if kind in _ATTRIBUTES and kind != "DataTree":  # functions take results, not models or optima
        return ""
    function = getattr(import_module(_ROOT), attribute, None)
    if not isroutine(function):
        return ""
    if kind == "DataTree" and {"results", "tree"}.isdisjoint(signature(function).parameters):
        return ""
    return f"; it is a function: kg.{attribute}(...)"


def _hint(module: str, name: str, names: list[str]) -> str:
    submodule_advice = of_submodule(name, names) if module == _ROOT else None
    if submodule_advice is not None:
        return submodule_advice
    if module == f"{_ROOT}.gp" and name == "cov":  # kernels of PyMC, as pm.gp.cov.ExpQuad
        return "; kernels are functions of kg.gp" + "".join(
            _hint(module, kernel, names) for kernel in read_next(name)[:1]
        )
    advice = ELSEWHERE.get(plain(name))
    if advice is not None:
        return f"; {advice}"
    family, _, suffix = name.rpartition("_")
    if suffix in _OF_STAN and family:
        distribution = ELSEWHERE.get(plain(family), "").removeprefix("here it is ")
        call = distribution or (f"kg.{family}" if family in names else "")
        full_call = call if call.endswith(")") else f"{call}(...)"
        return "; here it is " + _OF_STAN[suffix].format(full_call if call else "distribution")
    equal_names = [candidate for candidate in names if plain(candidate) == plain(name)]
    if equal_names:
        return f"; did you mean {equal_names[0]!r}?"
    for submodule in _WITHIN if module == _ROOT else ():
        for candidate in import_module(f"{_ROOT}.{submodule}").__all__:
            if plain(candidate) == plain(name):
                return f"; it is kg.{submodule}.{candidate}"
    for short, library in _LIBRARIES.items() if module == _ROOT else ():
        function = getattr(import_module(library), name, None)
        if callable(function) and is_available(function):
            return f"; {short}.{name} takes arrays"
    near = closest(name, names)
    return f"; did you mean {near!r}?" if near else ""
