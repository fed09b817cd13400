"""Links between linear predictors and parameters of distributions.

parameter = inverse link(linear predictor)
"""

from collections.abc import Callable
from typing import Any

from ..graph.array import Array
from ..graph.functions.mathematics import arctan, exp, sqrt
from ..graph.functions.special import icauchit, icloglog, ilogit, iprobit, softplus
from ..graph.source import place_text
from ..graph.suggestions import did_you_mean

__all__ = ["INVERSE_LINKS", "Linked", "check_link"]

INVERSE_LINKS: dict[str, Callable[[Any], Any]] = {
    "identity": lambda eta: eta,
    "log": exp,
    "logm1": lambda eta: exp(eta) + 1.0,
    "logit": ilogit,
    "probit": iprobit,
    "cloglog": icloglog,
    "cauchit": icauchit,
    "softplus": softplus,
    "inverse": lambda eta: 1.0 / eta,
    "1/mu^2": lambda eta: 1.0 / sqrt(eta),
    "sqrt": lambda eta: eta * eta,
    "tan_half": lambda eta: 2.0 * arctan(eta),
}

# For the default link of a parameter: the links whose values the parameter can have.
_FITTING = {
    "log": ("log", "identity", "softplus", "sqrt", "inverse", "1/mu^2", "logm1"),
    "logit": ("logit", "probit", "cloglog", "cauchit", "identity", "log"),
    "identity": ("identity", "log", "softplus", "sqrt", "inverse", "1/mu^2"),
    "tan_half": ("tan_half", "identity"),
}


class Linked:
    """A parameter of the response, with its linear predictor if any."""

    def __init__(
        self, value: Array | None = None, eta: Array | None = None, link: str = ""
    ) -> None:
        self._value, self.eta, self.link = value, eta, link

    @property
    def value(self) -> Any:
        """The parameter itself."""
        return self._value if self.eta is None else INVERSE_LINKS[self.link](self.eta)

    def under(self, link: str, keyword: str, plain: str) -> dict[str, Any]:
        """The argument of a distribution that can take the linear predictor itself."""
        return {keyword: self.eta} if self.link == link else {plain: self.value}


def check_link(link: str, parameter: str, default: str, family: str) -> str:
    """Return a link of a parameter whose default link is `default`.

    Raises
    ------
    ValueError
        If the name of the link is unknown, or its values do not fit the parameter.
    """
    if link not in INVERSE_LINKS:
        raise ValueError(
            f"formula: the link of {parameter} is {link!r}{place_text()}; the links are "
            f"{', '.join(INVERSE_LINKS)}{did_you_mean(link, INVERSE_LINKS)}"
        )
    if link not in _FITTING[default]:
        raise ValueError(
            f"formula: the link {link!r} does not fit {parameter} of the family {family}"
            f"{place_text()}; the links are {', '.join(_FITTING[default])}"
        )
    return link
