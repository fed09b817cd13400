"""What other libraries call the parameters: answers to a keyword that is not ours."""

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, signature
from typing import Any, cast

from ..graph.source import place_text

__all__ = ["WORDS", "with_words"]

_PLACE = ("mean", "mu", "location", "meanlog")
_SCALE = ("sd", "sigma", "scale", "sdlog", "b")
WORDS: dict[str, tuple[str, ...]] = {
    "loc": _PLACE,
    "location": _PLACE,
    "mean": _PLACE,
    "mu": _PLACE,
    "median": _PLACE,
    "scale": _SCALE,
    "sd": _SCALE,
    "sigma": _SCALE,
    "std": _SCALE,
    "stddev": _SCALE,
    "gamma": ("scale",),
    "gate": ("zero",),
    "b": ("sigma", "shape2", "beta"),
    "c": ("alpha",),
    "k": ("alpha",),
    "m": ("b",),
    "xm": ("b",),
    "s": ("scale",),
    "ar_coefs": ("rho",),
    "steps": ("dim",),
    "num_steps": ("dim",),
    "predictor": ("eta",),
    "low": ("min",),
    "lower": ("min",),
    "minval": ("min",),
    "high": ("max",),
    "upper": ("max",),
    "maxval": ("max",),
    "a": ("shape1", "alpha"),
    "alpha": ("shape1", "size", "a"),
    "beta": ("rate", "shape2", "scale"),
    "concentration": ("alpha", "eta", "lam", "kappa"),
    "concentration0": ("shape2",),
    "concentration1": ("shape1",),
    "conc": ("alpha",),
    "lam": ("rate",),
    "nu": ("df", "rate"),
    "lambda_": ("rate", "lam"),
    "dfn": ("df1",),
    "dfd": ("df2",),
    "symmetry": ("kappa",),
    "log_lam": ("log_rate",),
    "p": ("prob",),
    "probs": ("prob",),
    "probabilities": ("prob",),
    "success_prob": ("prob",),
    "logits": ("logit",),
    "logit_p": ("logit",),
    "n": ("size", "dim"),
    "r": ("size",),
    "total_count": ("size",),
    "trials": ("size",),
    "phi": ("size",),
    "Tau": ("precision",),
    "tau": ("precision",),
    "rowcov": ("row_cov",),
    "colcov": ("col_cov",),
    "rowchol": ("row_chol",),
    "colchol": ("col_chol",),
    "V": ("scale",),
    "covariance": ("cov",),
    "covariance_matrix": ("cov",),
    "precision_matrix": ("precision",),
    "Sigma": ("cov",),
    "scale_matrix": ("scale",),
    "scale_tril": ("chol",),
    "cholesky": ("chol",),
    "L": ("chol",),
    "d": ("dim",),
    "dimension": ("dim",),
    "sample_shape": ("shape",),
    "initval": (),
    "observed": (),
    "obs": (),
}
# Bounds of a distribution that has none as its parameters.
_BOUNDS = {"bounds", "left", "low", "lower", "right", "high", "upper"}
_BOUNDS |= {"trunc", "truncate", "truncated"}
_OBSERVED = "; data are given by kg.observe(data, {0}(...))"
# Parameters that are functions of ours.
_COMPUTED = {
    "tau": ("sd", "1 / sqrt(tau)"),
    "precision": ("sd", "1 / sqrt(precision)"),
    "theta": ("rate", "1 / theta"),
    "scale": ("rate", "1 / scale"),
    "mean": ("rate", "1 / mean"),
}


def with_words[F: Callable[..., Any]](function: F) -> F:
    """The function, which answers a keyword that it does not have, and too many values.

    Raises
    ------
    TypeError
        That says what is called so here.
    """
    name, parameters = function.__name__, signature(function).parameters
    known = tuple(parameters)
    if any(p.kind is Parameter.VAR_POSITIONAL for p in parameters.values()):
        most = None
    else:
        most = sum(p.kind is not Parameter.KEYWORD_ONLY for p in parameters.values())

    @wraps(function)
    def call(*values: Any, **named: Any) -> Any:
        for word in named:
            if word not in known:
                raise TypeError(_answer(name, word, known))
        if most is not None and len(values) > most:
            raise TypeError(_too_many(name, values, known[:most]))
        return function(*values, **named)

    return cast(F, call)


def _answer(name: str, word: str, known: tuple[str, ...]) -> str:
    own = ", ".join(p for p in known if p != "self")
    meant = [p for p in WORDS.get(word, ()) if p in known]
    computed = _COMPUTED.get(word, ("", ""))
    hint = ""
    if word in ("observed", "obs"):
        hint = _OBSERVED.format(f"kg.{name}")
    elif len(meant) == 1:
        hint = f"; here it is called {meant[0]}"
    elif computed[0] in known:
        hint = f"; give {computed[0]}={computed[1]}"
    elif word in _BOUNDS and "truncation" in known:
        hint = "; bounds are given by truncation=(lower, upper), with None where there is none"
    elif word == "size" and "shape" in known:
        hint = "; here it is called shape"
    return f"{name}: there is no parameter {word}{place_text()}{hint}. It takes {own}"


def _too_many(name: str, values: tuple[Any, ...], known: tuple[str, ...]) -> str:
    own = [p for p in known if p != "self"]
    given = [v for p, v in zip((*known, *values[len(known) :]), values) if p != "self"]
    texts = [v for v in given if isinstance(v, str)]
    hint = f"; a name is given by name={texts[0]!r}" if texts else "; all else is given by keyword"
    return (
        f"{name}: takes {' and '.join(own) or 'nothing'} by position, got {len(given)} values"
        f"{place_text()}{hint}"
    )
