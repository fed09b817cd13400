"""Encoding of rows of data as the response's distribution.

The encoding of new rows is that of the rows of the model.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..graph.array import Array
from ..graph.dims import dim
from ..graph.inputs import data
from ..graph.source import place_text
from ..graph.suggestions import did_you_mean
from .columns import row_dim
from .families import ResponseFamily, families_with
from .links import Linked, check_link
from .population import plain_name
from .predictor import Predictor
from .response import Response
from .texts import FormulaText
from .unknowns import FormulaUnknowns

__all__ = ["Encoding"]


class Encoding:
    """Encoding of a data frame by formulas and a family.

    Attributes
    ----------
    predictors
        The linear predictors by parameter.
    links
        The links of the parameters.
    """

    def __init__(
        self,
        texts: Sequence[FormulaText],
        family: ResponseFamily,
        links: Mapping[str, str],
        frame: pd.DataFrame,
        scope: dict[str, Any],
    ) -> None:
        self.texts, self.family = tuple(texts), family
        self.frame = frame
        self.response = Response(texts[0], family, frame, scope)
        names = self.parameters
        further = {text.response: text for text in texts[1:]}
        for name in (*further, *links):
            allowed = [*dict.fromkeys([*names, family.main])] if name in links else [*names]
            if name not in allowed:
                advice = families_with(name, family) or did_you_mean(name, allowed)
                raise ValueError(
                    f"formula: {name!r} is not a parameter of the family {family.name}"
                    f"{place_text()}; its parameters are {', '.join(allowed)}{advice}"
                )
        if family.main in further and family.main in names:
            raise ValueError(
                f"formula: {family.main} has two formulas{place_text()}; the first formula, "
                f"{texts[0].text!r}, is that of {family.main}"
            )
        self.links = {
            name: check_link(
                links.get(name, links.get(family.main, "") if is_main else "") or link,
                name,
                link,
                family.name,
            )
            for name, (link, is_main) in names.items()
        }
        ordered = family.response == "ordered"
        if ordered and self.links[family.main] not in ("logit", "probit"):
            raise ValueError(
                f"formula: the family {family.name} has the links logit and probit, got "
                f"{self.links[family.main]!r}{place_text()}"
            )
        self.predictors: dict[str, Predictor] = {}
        for name, (_, is_main) in names.items():
            text = further.get(name, texts[0] if is_main else None)
            if text is not None:
                prefix = "" if name == family.main else name
                self.predictors[name] = Predictor(prefix, text, frame, scope, is_main, ordered)

        for name in links:
            if name != family.main and name not in self.predictors:
                raise ValueError(
                    f"formula: the link of {name} has no effect, as {name} has no formula"
                    f"{place_text()}; add the formula '{name} ~ 1', or leave the link out"
                )
        for name, predictor in self.predictors.items():
            if self.response.text.strip("`") in predictor.population.design.factors:
                raise ValueError(
                    f"formula: the response {self.response.text} is among the terms of {name}"
                    f"{place_text()}; leave the term out"
                )

    @property
    def parameters(self) -> dict[str, tuple[str, bool]]:
        """The link of each parameter, and whether it is a main one."""
        if self.family.response != "class":
            return {n: (link, n == self.family.main) for n, link in self.family.links.items()}
        labels = self.response.labels or []
        return {f"mu{plain_name(label)}": ("identity", True) for label in labels[1:]}

    def declare(self, unknowns: FormulaUnknowns) -> None:
        """Make all unknowns."""
        for predictor in self.predictors.values():
            predictor.declare(unknowns, self.frame)
        if self.family.response == "ordered":
            kind = "thresholds" if self.family.name == "cumulative" else "free_thresholds"
            count = self.response.classes - 1
            labels = (self.response.labels or [])[:-1]
            dims = (dim("threshold", labels),)
            thresholds = unknowns.make(
                kind, "thresholds", ("Intercept",), shape=(count,), dims=dims
            )
            shift = self.predictors[self.family.main].population.value_at_means(unknowns.arrays)
            unknowns.add("b_thresholds", thresholds + shift)
        for name in self.parameters:
            if name not in self.predictors:
                unknowns.make(name, name)

    def linear(
        self,
        name: str,
        arrays: Mapping[str, Array],
        frame: pd.DataFrame,
        prefix: str = "",
        new_levels: str | None = "error",
    ) -> Any:
        """The linear predictor of a parameter, (rows,)."""
        eta, rows = self.predictors[name].value(frame, arrays, prefix, new_levels), len(frame)
        if prefix:  # the labels of new rows come with an array of the rows
            return eta + data(np.zeros(rows), f"{prefix}rows", (row_dim(frame, prefix),))
        if not getattr(eta, "shape", ()):
            eta = eta + np.zeros(rows)
            if isinstance(eta, Array):  # not a 0, of thresholds without effects
                eta.node.dims = ("obs",)
        return eta

    def linked(
        self,
        arrays: Mapping[str, Array],
        frame: pd.DataFrame,
        prefix: str = "",
        new_levels: str | None = "error",
    ) -> dict[str, Any]:
        """The parameters of the response's distribution."""
        parameters: dict[str, Any] = {
            name: Linked(
                eta=self.linear(name, arrays, frame, prefix, new_levels), link=self.links[name]
            )
            if name in self.predictors
            else Linked(arrays[name])
            for name in self.parameters
        }
        if self.family.response == "ordered":
            parameters["thresholds"] = arrays["thresholds"]
        return parameters

    def distribution(
        self,
        arrays: Mapping[str, Array],
        frame: pd.DataFrame,
        prefix: str = "",
        new_levels: str | None = "error",
        censored: bool = False,
    ) -> Array:
        """The distribution of the response of the rows of a frame."""
        parameters = self.linked(arrays, frame, prefix, new_levels)
        make, arguments = self.family.build(parameters, self.response.trials(frame, prefix))
        limits = self.response.limits(frame, censored)
        shape = (len(frame), 2) if "censoring" in limits else (len(frame),)
        dims = (row_dim(frame, prefix) if prefix else "obs", None)[: len(shape)]
        return make(**arguments, **limits, shape=shape, dims=dims)
