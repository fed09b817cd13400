"""A public name that there is not: what may be meant, and what other libraries' names are here."""

from collections.abc import Iterable
from importlib import import_module
from inspect import isroutine

from ..graph.numpy.protocol import is_available
from ..graph.suggestions import closest, plain

__all__ = ["ELSEWHERE", "instead_of", "no_attribute"]

# Others' names, without capitals and underscores, by ours.
_OTHERS = {
    "kg.advi(model) or kg.pathfinder(model)": "fit svi variational vb",
    "kg.ar": "autoregressive",
    "kg.autograph.List, or a list in @kg.function": "tensorarray",
    "kg.check(condition, text)": "assert asserttrue",
    "kg.chi_squared": "chi2 chisquare",
    "kg.compile(inputs, outputs) or @kg.function": "jit session",
    "kg.concatenate": "cat concat",
    "kg.cond": "ifelse",
    "kg.data": "asdata constantdata greatadata mutabledata",
    "kg.digamma": "psi",
    "kg.discrete_uniform": "randint",
    "kg.distribution": "customdist densitydist",
    "kg.exponential": "expon",
    "kg.factor(term)": "potential target",
    "kg.gammaln": "lgamma loggamma",
    "kg.gp.rbf": "expquad squaredexponential",
    "kg.gradients(y, xs)": "backward grad gradient gradienttape jacobian valueandgrad",
    "kg.half_student": "halfstudentt halft",
    "kg.ilogit": "expit invlogit sigmoid",
    "kg.inverse_gamma": "invgamma",
    "kg.iprobit": "invprobit",
    "kg.laplace": "doubleexponential",
    "kg.laplace_approximation(model)": "laplaceapprox",
    "kg.lkj_cholesky": "lkjcholeskycov",
    "kg.lkj_correlation": "lkjcorr",
    "kg.log_density(distribution, value)": "logp logprob",
    "kg.mcmc(model)": "infer inference sample samplechain sampling stan",
    "kg.mixture": "mixturesamefamily normalmixture",
    "kg.multivariate_normal": "multinormal mvn mvnormal",
    "kg.multivariate_student": "mvstudentt mvt",
    "kg.negative_binomial": "nbinom negbinomial negbinomial2",
    "kg.normal": "gaussian norm",
    "kg.normal(mean, sd, truncation=(lower, upper))": "truncatednormal",
    "kg.ode.solve": "diffeqsolve odeint solveivp",
    "kg.opt(model)": "findmap map minimize optimize optimizing",
    "kg.optimizers.gradient_descent": "sgd",
    "kg.optimizers.lbfgs": "lbfgsb",
    "kg.ordered_variable": "ordered",
    "kg.placeholder(shape)": "dmatrix dscalar dvector fmatrix fvector imatrix iscalar ivector",
    "kg.predict(model, results)": "predictive sampleposteriorpredictive",
    "kg.random_walk": "gaussianrandomwalk",
    "kg.RandomStreams(metaseed)": "generator rng seed",
    "kg.samplers.HMC": "hamiltonianmontecarlo",
    "kg.samplers.RandomWalk": "metropolis metropolishastings",
    "kg.scan, or a for statement in @kg.function": "foriloop",
    "kg.simplex_variable": "simplex",
    "kg.switch(index, branches)": "switchcase",
    "kg.simulate(model)": "priorpredictive samplepriorpredictive",
    "kg.student": "studentt t tdist",
    "kg.summary(results)": "ess rhat",
    "kg.vmap(f)": "mapfn vectorizedmap",
    "kg.variable()": "flat param parameter",
    "kg.variable(lower=0)": "halfflat",
    "kg.wald": "inversegaussian",
    "model.plot()": "modeltographviz",
    "model.set_data(...)": "setdata",
    "x ** y": "pow power",
}
# What has no name here, and is not needed.
_TOLD = {
    "az.plot_...(results), of arviz, takes results as they are": (
        "plotdist plotenergy plotforest plotpair plotposterior plotrank plottrace traceplot"
    ),
    "az.loo(results), of arviz, takes results with kg.log_likelihood(model, results)": "loo waic",
    "NumPy's own arrays are taken everywhere, and kg.data(value) is one with a name": (
        "arange array asarray constant eye full linspace ones oneslike tensor zeros zeroslike"
    ),
    "bounds are given by truncation=(lower, upper) of a distribution": "truncated",
    "bounds are given by censoring=(lower, upper) of a distribution": "censored",
    "independent copies are made by shape= or dims= of a distribution": "plate",
    "kg.model(name=array) records an array under a name": "deterministic",
    "values that change are kg.data, by model.set_data(...), or a kg.state": "shared",
}
ELSEWHERE = {
    word: f"here it is {ours}" for ours, words in _OTHERS.items() for word in words.split()
}
ELSEWHERE |= {word: told for told, words in _TOLD.items() for word in words.split()}

_ROOT = __name__.partition(".")[0]
# Where a name may be that is looked for in the package itself.
_WITHIN = ("samplers", "observables", "optimizers", "gp", "ode", "autograph", "streams")

# Whose functions take arrays.
_LIBRARIES = {"np": "numpy", "np.linalg": "numpy.linalg", "scipy.special": "scipy.special"}


def no_attribute(module: str, name: str, names: Iterable[str]) -> AttributeError:
    """The error for a name that a module does not have, and the names that it has."""
    text = f"module {module!r} has no attribute {name!r}"
    # Tools ask modules for names of their own; nobody reads what they are told.
    hint = "" if name.startswith("_") else _hint(module, name, list(names))
    # A name without its object: Python would say once more what may be meant.
    return AttributeError(text + hint, name=name)


def instead_of(attribute: str) -> str:
    """What does here what a method of others' objects does: a function, in most cases."""
    told = ELSEWHERE.get(plain(attribute))
    if told is not None:
        return f"; {told}"
    function = getattr(import_module(_ROOT), attribute, None)
    return f"; it is a function: kg.{attribute}(...)" if isroutine(function) else ""


def _hint(module: str, name: str, names: list[str]) -> str:
    told = ELSEWHERE.get(plain(name))
    if told is not None:
        return f"; {told}"
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
