"""Families of the response: parameters, links and distributions.

The first parameter of a family is the main one, that the first formula is of. The other ones are
unknowns, or have formulas of their own. brms has the same names and parametrisations.
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ..distributions import (
    asymmetric_laplace,
    bernoulli,
    beta,
    beta_binomial,
    binomial,
    categorical,
    exponential,
    gamma,
    geometric,
    hurdle_gamma,
    hurdle_lognormal,
    hurdle_negative_binomial,
    hurdle_poisson,
    lognormal,
    negative_binomial,
    normal,
    ordered_logistic,
    ordered_probit,
    poisson,
    skew_normal,
    student,
    von_mises,
    wald,
    weibull,
    zero_inflated_beta,
    zero_inflated_negative_binomial,
    zero_inflated_poisson,
)
from ..graph.array import Array
from ..graph.functions.arranging import concatenate, stack
from ..graph.functions.mathematics import exp, sqrt
from ..graph.functions.reductions import cumsum
from ..graph.functions.special import gammaln, log_ndtr, softplus
from ..graph.source import place_text
from ..graph.suggestions import closest, plain
from ..graph.value_texts import in_words
from ..models.mixtures import mixture
from .links import Linked

__all__ = ["FAMILIES", "ZEROS_AND_ONES", "ResponseFamily", "family_named"]

ZEROS_AND_ONES = (
    "for responses with zeros and ones make separate models: family='bernoulli' for whether a "
    "response is 0 or 1, and for which of both it is, and family='beta' for the other rows"
)

MakerCall = tuple[Callable[..., Array], dict[str, Any]]


@dataclass(frozen=True)
class ResponseFamily:
    """A family of distributions of the response.

    Attributes
    ----------
    links
        The links of the parameters by name; the first is the main parameter.
    build
        A function of the parameters (`Linked`, by name) and the numbers of trials; it returns a
        function that makes the distribution, and its arguments.
    response
        What the response is: "number", "count", "binary", "ordered" or "class".
    with_zeros
        The family for responses that may be 0 as well, "" if there is none.
    """

    name: str
    links: Mapping[str, str]
    build: Callable[[Mapping[str, Any], Any], MakerCall]
    response: str = "number"
    trials: bool = False
    aliases: tuple[str, ...] = field(default=())
    with_zeros: str = ""

    @property
    def main(self) -> str:
        """The name of the main parameter."""
        return next(iter(self.links))

    def __reduce__(self) -> Any:
        return family_named, (self.name,)


def _counts(p: Mapping[str, Linked], share: str) -> dict[str, Any]:
    """The arguments of negative binomial counts, with extra zeros by `share`."""
    shape = {"dispersion": 1.0 / p["shape"].value}
    zeros = {"zero": p[share].value} if share else {}
    return {**zeros, **p["mu"].under("log", "log_mean", "mean"), **shape}


def _by_mean(p: Mapping[str, Linked], share: str = "") -> dict[str, Any]:
    """The arguments of gamma numbers, with 0 of probability `share`."""
    zeros = {"zero": p[share].value} if share else {}
    return {**zeros, "alpha": p["shape"].value, "rate": p["shape"].value / p["mu"].value}


def _shares(p: Mapping[str, Linked], share: str = "") -> dict[str, Any]:
    """The arguments of beta numbers, with 0 of probability `share`."""
    zeros = {"zero": p[share].value} if share else {}
    mean, precision = p["mu"].value, p["phi"].value
    return {**zeros, "shape1": mean * precision, "shape2": (1.0 - mean) * precision}


def _inflated_trials(p: Mapping[str, Any], trials: Any) -> MakerCall:
    """Binomial counts with additional zeros.

    They are a mixture with binomial counts of probability 0.
    """
    counts = binomial(trials, **p["mu"].under("logit", "logit", "prob"))
    share = p["zi"].value
    weights = stack([1.0 - share, share], -1)
    return partial(mixture, counts, binomial(trials, 0.0)), {"weights": weights}


def _log_below(z: Any, link: str) -> Any:
    """The log of P(latent number <= z), logistic or normal."""
    return log_ndtr(z) if link == "probit" else -softplus(-z)


def _skewed(p: Mapping[str, Any], trials: Any) -> MakerCall:
    """The skew normal distribution by its mean and standard deviation."""
    alpha, sd = p["alpha"].value, p["sigma"].value
    delta = alpha / sqrt(1.0 + alpha * alpha)
    scale = sd / sqrt(1.0 - 2.0 / math.pi * delta * delta)
    location = p["mu"].value - scale * delta * math.sqrt(2.0 / math.pi)
    return skew_normal, {"location": location, "scale": scale, "alpha": alpha}


def _at_quantile(p: Mapping[str, Any], trials: Any) -> MakerCall:
    """The asymmetric Laplace distribution whose quantile of a probability is mu.

    log p(y) = log(q (1 - q) / sigma) - z (q - (z < 0)),  z = (y - mu) / sigma
    """
    q, sigma = p["quantile"].value, p["sigma"].value
    spread, kappa = sigma / sqrt(q * (1.0 - q)), sqrt(q / (1.0 - q))
    return asymmetric_laplace, {"mu": p["mu"].value, "sigma": spread, "kappa": kappa}


def _cumulative(p: Mapping[str, Any], trials: Any) -> MakerCall:
    function = ordered_probit if p["mu"].link == "probit" else ordered_logistic
    return function, {"eta": p["mu"].eta, "cutpoints": p["thresholds"]}


def _distances(p: Mapping[str, Any]) -> Any:
    """The thresholds minus the linear predictor, (rows, thresholds)."""
    return p["thresholds"] - p["mu"].eta[..., None]


def _columns(first: Any, rest: Any) -> Any:
    """Join columns, with one column of zeros where an operand is None."""
    zeros = (rest if first is None else first)[..., :1] * 0.0
    return concatenate([zeros if first is None else first, zeros if rest is None else rest], -1)


def _stopping(p: Mapping[str, Any], trials: Any) -> MakerCall:
    """The sequential model of stopping.

    P(y = k) = F(c_k - eta) prod_{j < k} (1 - F(c_j - eta))
    """
    z, link = _distances(p), p["mu"].link
    stops, goes = _log_below(z, link), _log_below(-z, link)
    return categorical, {"logit": _columns(stops, None) + _columns(None, cumsum(goes, -1))}


def _continuing(p: Mapping[str, Any], trials: Any) -> MakerCall:
    """The sequential model of continuing.

    P(y = k) = (1 - F(eta - c_k)) prod_{j < k} F(eta - c_j)
    """
    z, link = _distances(p), p["mu"].link
    goes, stops = _log_below(-z, link), _log_below(z, link)
    return categorical, {"logit": _columns(stops, None) + _columns(None, cumsum(goes, -1))}


def _adjacent(p: Mapping[str, Any], trials: Any) -> MakerCall:
    """The model of adjacent categories.

    P(y = k) proportional to prod_{j < k} F(eta - c_j) / (1 - F(eta - c_j))
    """
    z, link = _distances(p), p["mu"].link
    log_odds = -z if link == "logit" else _log_below(-z, link) - _log_below(z, link)
    return categorical, {"logit": _columns(None, cumsum(log_odds, -1))}


def _classes(p: Mapping[str, Any], trials: Any) -> MakerCall:
    etas = [linked.eta for linked in p.values()]
    return categorical, {"logit": stack([etas[0] * 0.0, *etas], -1)}


_LOG, _LOGIT = "log", "logit"
_MEAN = {"mu": _LOG}

FAMILIES: dict[str, ResponseFamily] = {
    f.name: f
    for f in [
        ResponseFamily(
            "gaussian",
            {"mu": "identity", "sigma": _LOG},
            lambda p, t: (normal, {"mean": p["mu"].value, "sd": p["sigma"].value}),
            aliases=("normal",),
        ),
        ResponseFamily(
            "student",
            {"mu": "identity", "sigma": _LOG, "nu": _LOG},
            lambda p, t: (
                student,
                {"df": p["nu"].value, "mu": p["mu"].value, "sigma": p["sigma"].value},
            ),
            aliases=("t", "studentt"),
        ),
        ResponseFamily(
            "skew_normal",
            {"mu": "identity", "sigma": _LOG, "alpha": "identity"},
            _skewed,
            aliases=("skewnormal",),
        ),
        ResponseFamily(
            "asym_laplace",
            {"mu": "identity", "sigma": _LOG, "quantile": _LOGIT},
            _at_quantile,
            aliases=("asymmetric_laplace", "asymmetriclaplace"),
        ),
        ResponseFamily(
            "lognormal",
            {"mu": "identity", "sigma": _LOG},
            lambda p, t: (lognormal, {"meanlog": p["mu"].value, "sdlog": p["sigma"].value}),
            with_zeros="hurdle_lognormal",
        ),
        ResponseFamily(
            "bernoulli",
            {"mu": _LOGIT},
            lambda p, t: (bernoulli, p["mu"].under(_LOGIT, "logit", "prob")),
            "binary",
            aliases=("logistic",),
        ),
        ResponseFamily(
            "binomial",
            {"mu": _LOGIT},
            lambda p, t: (binomial, {"size": t, **p["mu"].under(_LOGIT, "logit", "prob")}),
            "count",
            trials=True,
        ),
        ResponseFamily(
            "beta_binomial",
            {"mu": _LOGIT, "phi": _LOG},
            lambda p, t: (
                beta_binomial,
                {
                    "size": t,
                    "alpha": p["mu"].value * p["phi"].value,
                    "beta": (1.0 - p["mu"].value) * p["phi"].value,
                },
            ),
            "count",
            trials=True,
        ),
        ResponseFamily(
            "zero_inflated_binomial",
            {"mu": _LOGIT, "zi": _LOGIT},
            _inflated_trials,
            "count",
            trials=True,
        ),
        ResponseFamily(
            "poisson",
            _MEAN,
            lambda p, t: (poisson, p["mu"].under(_LOG, "log_rate", "rate")),
            "count",
        ),
        ResponseFamily(
            "negbinomial",
            {"mu": _LOG, "shape": _LOG},
            lambda p, t: (negative_binomial, _counts(p, "")),
            "count",
            aliases=("negativebinomial", "nb"),
        ),
        ResponseFamily(
            "geometric",
            _MEAN,
            lambda p, t: (geometric, {"prob": 1.0 / (1.0 + p["mu"].value)}),
            "count",
        ),
        ResponseFamily(
            "gamma",
            {"mu": _LOG, "shape": _LOG},
            lambda p, t: (gamma, _by_mean(p)),
            with_zeros="hurdle_gamma",
        ),
        ResponseFamily(
            "exponential", _MEAN, lambda p, t: (exponential, {"rate": 1.0 / p["mu"].value})
        ),
        ResponseFamily(
            "weibull",
            {"mu": _LOG, "shape": _LOG},
            lambda p, t: (
                weibull,
                {
                    "alpha": p["shape"].value,
                    "scale": p["mu"].value * exp(-gammaln(1.0 + 1.0 / p["shape"].value)),
                },
            ),
            with_zeros="hurdle_gamma",
        ),
        ResponseFamily(
            "inverse_gaussian",
            {"mu": _LOG, "shape": _LOG},
            lambda p, t: (wald, {"mu": p["mu"].value, "lam": p["shape"].value}),
            aliases=("wald",),
            with_zeros="hurdle_gamma",
        ),
        ResponseFamily(
            "beta",
            {"mu": _LOGIT, "phi": _LOG},
            lambda p, t: (beta, _shares(p)),
            with_zeros="zero_inflated_beta",
        ),
        ResponseFamily(
            "von_mises",
            {"mu": "tan_half", "kappa": _LOG},
            lambda p, t: (von_mises, {"mu": p["mu"].value, "kappa": p["kappa"].value}),
        ),
        ResponseFamily("cumulative", {"mu": _LOGIT}, _cumulative, "ordered", aliases=("ordinal",)),
        ResponseFamily("sratio", {"mu": _LOGIT}, _stopping, "ordered"),
        ResponseFamily("cratio", {"mu": _LOGIT}, _continuing, "ordered"),
        ResponseFamily("acat", {"mu": _LOGIT}, _adjacent, "ordered"),
        ResponseFamily("categorical", {"mu": "identity"}, _classes, "class"),
        ResponseFamily(
            "zero_inflated_poisson",
            {"mu": _LOG, "zi": _LOGIT},
            lambda p, t: (zero_inflated_poisson, {"zero": p["zi"].value, "rate": p["mu"].value}),
            "count",
            aliases=("zip",),
        ),
        ResponseFamily(
            "zero_inflated_negbinomial",
            {"mu": _LOG, "shape": _LOG, "zi": _LOGIT},
            lambda p, t: (zero_inflated_negative_binomial, _counts(p, "zi")),
            "count",
            aliases=("zeroinflatednegativebinomial", "zinb"),
        ),
        ResponseFamily(
            "hurdle_poisson",
            {"mu": _LOG, "hu": _LOGIT},
            lambda p, t: (hurdle_poisson, {"zero": p["hu"].value, "rate": p["mu"].value}),
            "count",
        ),
        ResponseFamily(
            "hurdle_negbinomial",
            {"mu": _LOG, "shape": _LOG, "hu": _LOGIT},
            lambda p, t: (hurdle_negative_binomial, _counts(p, "hu")),
            "count",
            aliases=("hurdlenegativebinomial",),
        ),
        ResponseFamily(
            "hurdle_gamma",
            {"mu": _LOG, "shape": _LOG, "hu": _LOGIT},
            lambda p, t: (hurdle_gamma, _by_mean(p, "hu")),
        ),
        ResponseFamily(
            "hurdle_lognormal",
            {"mu": "identity", "sigma": _LOG, "hu": _LOGIT},
            lambda p, t: (
                hurdle_lognormal,
                {"zero": p["hu"].value, "meanlog": p["mu"].value, "sdlog": p["sigma"].value},
            ),
        ),
        ResponseFamily(
            "zero_inflated_beta",
            {"mu": _LOGIT, "phi": _LOG, "zi": _LOGIT},
            lambda p, t: (zero_inflated_beta, _shares(p, "zi")),
            aliases=("hurdlebeta",),
        ),
    ]
}


_SPREADS = ("sigma", "shape", "phi", "kappa")  # one of them belongs to most families
_OTHER_SPREADS = ("disp", "dispersion", "precision", "sd", "size", "theta")


def families_with(parameter: str, family: ResponseFamily) -> str:
    """Advice on the families that have a parameter, or an empty text.

    A family whose name ends with that of the user's family comes first.
    """
    parameters = [name for name in _SPREADS if name in family.links]
    if parameter in (*_SPREADS, *_OTHER_SPREADS) and parameters:
        return f"; here it is {parameters[0]}"
    names = [other.name for other in FAMILIES.values() if parameter in other.links]
    near = [name for name in names if name.endswith(f"_{family.name}")] or names
    if not near:
        return ""
    shown = [*near[:4], "..."] if len(near) > 4 else near
    return f"; {parameter} is a parameter of {', '.join(shown)}: family={near[0]!r}"


def family_named(name: Any) -> ResponseFamily:
    """The family with a name.

    Raises
    ------
    TypeError
        If the name is not a text.
    ValueError
        If the name of the family is unknown.
    """
    if not isinstance(name, str):
        kind = getattr(name, "__name__", "gaussian").lower()
        raise TypeError(
            f"formula: family must be a text, got {in_words(name)}{place_text()}; write "
            f"family={kind!r}"
        )
    names = {plain(n): f for f in FAMILIES.values() for n in (f.name, *f.aliases)}
    plain_name = plain(name)
    if plain_name not in names:
        similar = closest(plain_name.partition("(")[0], names)  # R writes poisson()
        hint = f"; did you mean {names[similar].name!r}?" if similar else ""
        match = re.fullmatch(r"(\w+)\s*\((?:\s*link\s*=)?\s*['\"]?(\w+)['\"]?\s*\)", name)
        if match and plain(match[1]) in names:  # R writes family = Gamma(link = "log")
            hint = f"; write family={names[plain(match[1])].name!r}, link={match[2]!r}"
        if plain_name == plain("zero_one_inflated_beta"):
            hint = f"; {ZEROS_AND_ONES}"
        raise ValueError(
            f"formula: unknown family {name!r}{place_text()}; the families are "
            f"{', '.join(FAMILIES)}{hint}"
        )
    return names[plain_name]
