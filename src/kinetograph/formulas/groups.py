"""Effects that vary between groups, `(1 + x | g)`.

r = (z L^T) sd,   z ~ normal(0, 1),   L L^T = cor ~ lkj(1),   eta_i = sum_k Z_ik r[group of i, k]
"""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from formulaic import Formula
from formulaic.errors import FormulaicError

from ..distributions import normal
from ..graph.array import Array
from ..graph.dims import dim
from ..graph.errors import DataError, KinetographWarning
from ..graph.functions.arranging import concatenate
from ..graph.functions.matrices import cholesky
from ..graph.groups import missing_codes_text
from ..graph.inputs import data
from ..graph.source import place_text, warn_user
from .columns import check_present, is_real, levels_of, row_text
from .design import Design
from .frames import categories_text
from .population import plain_name
from .priors import Unknown
from .texts import GroupText, call_of, reason_of
from .unknowns import FormulaUnknowns

__all__ = ["Grouping", "groupings"]


def groupings(
    parameter: str,
    texts: Iterable[GroupText],
    frame: pd.DataFrame,
    scope: dict[str, Any],
    main: bool,
) -> list["Grouping"]:
    """The group terms of one parameter: `a/b` stands for `a` and `a:b`."""
    terms: list[Grouping] = []
    for text in texts:
        for factors in _factors(text):
            terms.append(Grouping(parameter, text, factors, frame, scope, main))
    labels = [term.label for term in terms]
    for term in terms:
        if labels.count(term.label) > 1:
            term.label += "_" + "_".join(map(plain_name, term.effects))
    by_label: dict[str, Grouping] = {}
    for term in terms:
        if term.label in by_label:
            first = by_label[term.label].text
            both = (
                f"{term.text} is given twice"
                if first == term.text
                else (f"{first} and {term.text} have the same effects of {term.factor!r}")
            )
            raise ValueError(f"formula: {both}{place_text()}; write one term")
        by_label[term.label] = term
    return terms


def _factors(text: GroupText) -> list[tuple[str, ...]]:
    """The columns of each grouping factor that a group expression stands for."""
    try:
        terms = [
            tuple(str(factor.expr) for factor in term.factors)
            for term in Formula(f"0 + {text.group}")
        ]
    except (FormulaicError, SyntaxError, TypeError, AttributeError) as error:
        columns = text.group.split(",")
        reason = f": {reason_of(error)}"
        if "Unknown operator" in reason:
            reason = f"; groups are columns: make a column of {text.group}, and write its name"
        if len(columns) > 1 and all(column.strip().isidentifier() for column in columns):
            joined = ":".join(column.strip() for column in columns)
            reason = f"; groups by several columns are (... | {joined})"
        raise ValueError(
            f"formula: the group of {text} cannot be read{place_text()}{reason}"
        ) from None
    return [factors for factors in terms if factors != ("1",)]


class Grouping:
    """One group term: effects of columns for each level.

    Attributes
    ----------
    label
        The factor's columns, joined by colons, after the parameter: the end of the unknowns' names.
    effects
        The names of the effects.
    levels
        The levels of the factor, as tuples of one level of each column.
    """

    def __init__(
        self,
        parameter: str,
        text: GroupText,
        factors: tuple[str, ...],
        frame: pd.DataFrame,
        scope: dict[str, Any],
        main: bool,
    ) -> None:
        self.parameter, self.main, self.text, self.factors = parameter, main, text, factors
        self.factor = ":".join(factors)
        self.label = f"{parameter}_{self.factor}" if parameter else self.factor
        title = f"the group of {text}"
        call = next((f for f in factors if f not in frame and not f.isidentifier()), None)
        if call is not None:
            way = "make a column of its values, and write the name of this column"
            if call.startswith("mm("):
                way = "memberships of several groups are not available: write the model with arrays"
            elif call.startswith("gr("):
                column = next(iter(parsed.positional), "g") if (parsed := call_of(call)) else "g"
                way = f"write the column alone, ({text.effects} | {column})"
                if parsed and "by" in parsed.named:
                    way += (
                        f"; effects whose spread differs by {parsed.named['by']} are not available"
                    )
            raise DataError(
                f"formula: {title} has {call!r}, which is not a column{place_text()}; {way}"
            )
        check_present(frame, factors, title)
        keys = list(zip(*(frame[name] for name in factors)))
        order = [{v: i for i, v in enumerate(levels_of(frame[name]))} for name in factors]
        self.levels = sorted(set(keys), key=lambda key: [o[v] for o, v in zip(order, key)])
        if len(self.levels) < 2:
            raise DataError(
                f"formula: the group of {text}, {self.factor!r}, has one level, "
                f"{self._text(self.levels[0])!r}, in all {len(frame)} rows{place_text()}; leave "
                f"the term out"
            )
        self._warn_of_numbers(frame)
        self._index = {level: i for i, level in enumerate(self.levels)}
        self.design = Design(text.effects, frame, scope)
        self.effects = [*(["Intercept"] if self.design.intercept else []), *self.design.columns]
        if not self.effects:
            raise ValueError(f"formula: {text} has no effects{place_text()}")
        self.correlated = text.correlated and len(self.effects) > 1

    def _warn_of_numbers(self, frame: pd.DataFrame) -> None:
        """Warn of columns of real numbers, and of -1 for missing values."""
        for name in self.factors:
            column = frame[name]
            if text := missing_codes_text(name, column, np.asarray(column)):
                way = f"use {categories_text(frame, name)}"
                warn_user(f"formula: the group of {self.text}: {text} {way}", KinetographWarning)
            if is_real(frame[name]):
                values = frame[name]
                example = values[values != np.floor(values)].iloc[0]
                warn_user(
                    f"formula: the group {name!r} of {self.text} has real numbers, such as "
                    f"{example:.6g}: each of its {values.nunique()} different numbers in "
                    f"{len(frame)} rows is a level. For a function of {name} write s({name}), "
                    f"for slopes of {name} ({name} | group); if the numbers are labels, use "
                    f"{categories_text(frame, name)}",
                    KinetographWarning,
                )

    def _text(self, level: tuple[Any, ...]) -> str:
        return ":".join(map(str, level))

    @property
    def _shape(self) -> tuple[int, ...]:
        return (len(self.effects),) if len(self.effects) > 1 else ()

    def declare(
        self, unknowns: FormulaUnknowns, frame: pd.DataFrame, slopes: tuple[Unknown, ...]
    ) -> None:
        """Make the unknowns; `slopes` are the population coefficients."""
        effect = dim(f"{self.label}_effect", self.effects)
        group = unknowns.levels(self.factor, [self._text(level) for level in self.levels])
        after = f"_{self.parameter}" if self.parameter else ""
        shape = self._shape
        sd = unknowns.make(
            "sd",
            f"sd_{self.label}",
            (f"sd{after}",),
            shape=shape,
            dims=(effect,) if shape else None,
            main=self.main,
            columns=self._columns(frame),
            slopes=slopes,
        )
        z = normal(
            0.0,
            1.0,
            shape=(len(self.levels), *shape),
            dims=(group, effect) if shape else (group,),
            name=f"z_{self.label}",
        )
        unknowns.add(f"z_{self.label}", z, record=False)
        if self.correlated:
            unknowns.make(
                "cor",
                f"cor_{self.label}",
                (f"cor{after}", "cor"),
                shape=(len(self.effects),) * 2,
                dims=(effect, dim(f"{self.label}_effect_2", self.effects)),
            )
        unknowns.add(f"r_{self.label}", self._effects(z, sd, unknowns.arrays))

    def value(
        self, frame: pd.DataFrame, arrays: Mapping[str, Array], prefix: str, new_levels: str
    ) -> Array:
        """The effects for the rows of a frame."""
        without = "; group_effects=False leaves effects of groups out"
        check_present(frame, self.factors, f"the group of {self.text}", without=without)
        effects, index = arrays[f"r_{self.label}"], dict(self._index)
        keys = list(zip(*(frame[column] for column in self.factors)))
        new = list(dict.fromkeys(key for key in keys if key not in index))
        if new:
            if new_levels != "draw":
                row, texts = keys.index(new[0]), {self._text(key): key for key in index}
                advice = "give new_levels='draw' to draw the effects of new levels from their "
                advice += "distribution"
                if (same := texts.get(self._text(new[0]))) is not None:
                    got, expected = next((a, b) for a, b in zip(new[0], same) if a != b)
                    advice = f"it is {got!r}, but the model has {expected!r}: convert the column"
                raise DataError(
                    f"formula: {self.factor!r} has {self._text(new[0])!r} in "
                    f"{row_text(frame, row)}, a level that the model's data do not have"
                    f"{place_text()}; {advice}"
                )
            z = normal(0.0, 1.0, shape=(len(new), *self._shape), name=f"{prefix}z_{self.label}")
            drawn = self._effects(z, arrays[f"sd_{self.label}"], arrays)
            effects = concatenate([effects, drawn])
            index |= {level: len(index) + i for i, level in enumerate(new)}
        rows, name = np.array([index[key] for key in keys]), f"{prefix}{self.label}"
        chosen = effects[data(rows, f"{name}_index", (f"{prefix}obs",))]
        columns = self._columns(frame)
        if self._shape:
            return (data(columns, f"{name}_columns", (f"{prefix}obs", None)) * chosen).sum(-1)
        if not self.design.columns:
            return chosen
        return data(columns[:, 0], f"{name}_column", (f"{prefix}obs",)) * chosen

    def _columns(self, frame: pd.DataFrame) -> np.ndarray:
        columns = self.design.matrix(frame)
        ones = np.ones((len(frame), int(self.design.intercept)))
        return np.hstack([ones, columns])

    def _effects(self, z: Array, sd: Array, arrays: Mapping[str, Array]) -> Array:
        """The effects of independent normal numbers."""
        if self.correlated:
            z = z @ cholesky(arrays[f"cor_{self.label}"]).T
        return z * sd
