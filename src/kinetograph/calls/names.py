"""A public name that there is not: what may be meant, and what other libraries' names are here."""

from collections.abc import Iterable
from importlib import import_module
from inspect import isroutine

from ..graph.numpy.protocol import is_available
from ..graph.suggestions import closest, plain
from .elsewhere import ELSEWHERE
from .submodules import of_submodule

__all__ = ["instead_of", "no_attribute"]

_TABLE = "to_dataframe(), a table of pandas, which has it"
# What others' models and results have, by ours.
_ATTRIBUTES = {
    "Model": {
        **dict.fromkeys(("logp", "logpdf", "log_density", "lnprob", "logprob"), "log_prob"),
        **dict.fromkeys(("dlogp", "grad", "grad_log_prob"), "gradient"),
        "d2logp": "hessian",
        **dict.fromkeys(("fit", "infer", "run", "sample", "sampling"), "kg.mcmc(model)"),
        **dict.fromkeys(("draw", "graphviz", "to_graphviz", "render"), "plot()"),
        **dict.fromkeys(("find_map", "map", "optimize"), "kg.opt(model)"),
        **dict.fromkeys(("basic_RVs", "free_RVs", "unknowns", "variables", "vars"), "names"),
        **dict.fromkeys(("predict", "posterior_predictive"), "kg.predict(model, results)"),
        **dict.fromkeys(("prior_predictive", "simulate"), "kg.simulate(model)"),
    },
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
        **dict.fromkeys(("to_csv", "to_latex", "to_markdown", "to_string", "T", "round"), _TABLE),
        **dict.fromkeys(("to_pandas", "df", "dataframe"), "to_dataframe()"),
        **dict.fromkeys(("index", "rows"), "names"),
        **{
            name: f'table["{name}"]'
            for name in ["mean", "sd", "median", "ess_bulk", "ess_tail", "r_hat"]
        },
    },
}

_ROOT = __name__.partition(".")[0]
# Where a name may be that is looked for in the package itself.
_WITHIN = ("samplers", "observables", "optimizers", "gp", "ode", "autograph", "streams")

# Whose functions take arrays.
_LIBRARIES = {"np": "numpy", "np.linalg": "numpy.linalg", "scipy.special": "scipy.special"}

# What Stan asks of a distribution, by the end of the name.
_OF_STAN = {
    **dict.fromkeys(("lpdf", "lpmf", "lupdf", "lupmf"), "kg.log_density({0}, x)"),
    "lcdf": "kg.log_cdf({0}, x)",
    "lccdf": "kg.log_survival({0}, x)",
    "rng": "{0}, in kg.simulate(model) or kg.predict(model, results)",
}


def no_attribute(module: str, name: str, names: Iterable[str]) -> AttributeError:
    """The error for a name that a module does not have, and the names that it has."""
    text = f"module {module!r} has no attribute {name!r}"
    # Tools ask modules for names of their own; nobody reads what they are told.
    hint = "" if name.startswith("_") else _hint(module, name, list(names))
    # A name without its object: Python would say once more what may be meant.
    return AttributeError(text + hint, name=name)


def instead_of(kind: str, attribute: str) -> str:
    """What does here what a method of others' objects does: a function, in most cases."""
    own = _ATTRIBUTES.get(kind, {}).get(attribute)
    if own is not None:
        return f"; here it is {own}"
    told = ELSEWHERE.get(plain(attribute))
    if told is not None:
        return f"; {told}"
    if kind in _ATTRIBUTES:
        return ""
    function = getattr(import_module(_ROOT), attribute, None)
    return f"; it is a function: kg.{attribute}(...)" if isroutine(function) else ""


def _hint(module: str, name: str, names: list[str]) -> str:
    answer = of_submodule(name, names) if module == _ROOT else None
    if answer is not None:
        return answer
    told = ELSEWHERE.get(plain(name))
    if told is not None:
        return f"; {told}"
    family, _, asked = name.rpartition("_")
    if asked in _OF_STAN and family:
        ours = ELSEWHERE.get(plain(family), "").removeprefix("here it is ")
        known = ours or (f"kg.{family}" if family in names else "")
        made = known if known.endswith(")") else f"{known}(...)"
        return "; here it is " + _OF_STAN[asked].format(made if known else "distribution")
    same = [each for each in names if plain(each) == plain(name)]
    if same:
        return f"; did you mean {same[0]!r}?"
    for inner in _WITHIN if module == _ROOT else ():
        for each in import_module(f"{_ROOT}.{inner}").__all__:
            if plain(each) == plain(name):
                return f"; it is kg.{inner}.{each}"
    for short, library in _LIBRARIES.items():
        function = getattr(import_module(library), name, None)
        if callable(function) and is_available(function):
            return f"; {short}.{name} takes arrays"
    near = closest(name, names)
    return f"; did you mean {near!r}?" if near else ""
