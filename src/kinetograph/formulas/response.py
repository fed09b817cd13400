"""The response of a formula: its values, its additions, and its likelihood.

    y | trials(n) + weights(w) + cens(c) + trunc(low, high) ~ ...

Censored responses are intervals: [y, y] if observed, [y, inf) right, (-inf, y] left, [y, y2].
"""

from collections.abc import Iterable
from itertools import islice
from typing import Any

import numpy as np
import pandas as pd

from ..distributions.support import Pairs
from ..distributions.variable import Variable
from ..distributions.weighting import with_weights
from ..graph.array import Array
from ..graph.errors import DataError, KinetographWarning
from ..graph.inputs import data
from ..graph.node import Data
from ..graph.source import place_text, warn_user
from ..models.observe import observe
from ..results.deviations import deviations
from .columns import (
    check_present,
    is_real,
    is_text,
    label_texts,
    levels_of,
    numbers,
    row_dim,
    row_text,
)
from .dates import check_no_dates
from .design import evaluated
from .families import ZEROS_AND_ONES, ResponseFamily
from .frames import categories_text, frame_name, order_text
from .population import plain_name
from .priors import Scales
from .texts import FormulaText, call_of

__all__ = ["Response"]

_CENSORING = {
    "none": 0, "right": 1, "left": -1, "interval": 2, "0": 0, "1": 1, "-1": -1, "2": 2,
    "false": 0, "true": 1,
}  # fmt: skip

_CALLS = {  # additions, with their arguments
    "trials": "trials(n), with the column of the numbers of trials",
    "weights": "weights(w), with the column of the weights",
    "cens": "cens(c), or cens(c, y2) with the column of the upper ends of intervals; c is a column "
    "of 'none', 'right', 'left' and 'interval'",
    "trunc": "trunc(lb=0), trunc(ub=10) or trunc(lb=0, ub=10)",
}
_TRIALS = "{0} | trials({1}) ~ ...'"
_ELSEWHERE = {  # responses of bambi and R
    "p": _TRIALS,
    "prop": _TRIALS,
    "proportion": _TRIALS,
    "cbind": "{0} | trials(n) ~ ...', with the column n = {0} + {1}",
    "censored": "{0} | cens({1}) ~ ...'",
    "Surv": "{0} | cens(1 - {1}) ~ ...', where {1} is 1 for times that are not censored",
    **dict.fromkeys(("constrained", "truncated"), "{0} | trunc(lb=..., ub=...) ~ ...'"),
    "weighted": "{0} | weights({1}) ~ ...'",
}


class Response:
    """The response of a model.

    Attributes
    ----------
    values
        Numbers; for classes their codes.
    labels
        The labels of the classes, None for numbers.
    levels
        The values of the classes in the column, None for numbers.
    censored
        For each kind of censoring the number of rows, once the likelihood is stated.
    """

    def __init__(
        self, text: FormulaText, family: ResponseFamily, frame: pd.DataFrame, scope: dict[str, Any]
    ) -> None:
        self.text, self.family, self._scope = text.response, family, scope
        self.name = plain_name(text.response)
        self.censored: dict[str, int] = {}
        self.additions = text.additions
        self.labels: list[str] | None = None
        self.levels: list[Any] | None = None
        title = f"the response {text.response!r}"
        self._check_parts(frame)
        if family.response in ("ordered", "class") or (
            family.response == "binary" and text.response in frame
        ):
            self.values = self._codes(frame, title)
        else:
            self.values = evaluated(text.response, frame, scope, title, classes=True)
            if family.response in ("count", "binary"):
                self._check_counts(frame, title)
        for name in text.additions:
            count = {"trunc": (1, 2), "cens": (1, 2)}.get(name, (1, 1))
            call = text.additions[name]
            given = len(call.positional) + len(call.named)
            allowed = ("lb", "ub") if name == "trunc" else ()
            unknown = next((word for word in call.named if word not in allowed), None)
            if not count[0] <= given <= count[1] or unknown:
                problem = f"has no parameter {unknown}" if unknown else f"has {given} arguments"
                raise ValueError(
                    f"formula: {call.text} {problem}{place_text()}; write {_CALLS[name]}"
                )
        if "cens" in text.additions and family.response not in ("number", "count"):
            raise ValueError(
                f"formula: a response of the family {family.name} cannot be censored{place_text()}"
            )

    def _check_parts(self, frame: pd.DataFrame) -> None:
        """Refuse a parameter in place of the response, and wrong trials."""
        family, name = self.family, self.text
        call = call_of(name)
        if call and call.function in _ELSEWHERE and call.function not in self._scope:
            first, second = (*call.positional, "y", "n")[:2]
            of_trials = second.removesuffix(f" - {first}")
            if call.function == "cbind" and of_trials != second:
                raise ValueError(
                    f"formula: the response {name!r} is not available{place_text()}; write "
                    f"'{first} | trials({of_trials}) ~ ...'"
                )
            raise ValueError(
                f"formula: the response {name!r} is not available{place_text()}; write "
                f"'{_ELSEWHERE[call.function].format(first, second)}"
            )
        if call and call.function == "log" and family.name in ("lognormal", "hurdle_lognormal"):
            warn_user(
                f"formula: the response is {name}, and the family {family.name} takes logarithms "
                f"itself{place_text()}; write '{', '.join(call.positional)} ~ ...', or "
                "family='gaussian'",
                KinetographWarning,
            )
        if name in family.links and name not in frame and name not in self._scope:
            raise DataError(
                f"formula: {name!r} is not a column, but a parameter of the family {family.name}"
                f"{place_text()}; give the formula of the response first: "
                f"['y ~ ...', '{name} ~ ...']"
            )
        if family.trials == ("trials" in self.additions):
            return
        if not family.trials:
            raise ValueError(
                f"formula: the family {family.name} has no trials{place_text()}; use "
                "family='binomial'"
            )
        outcomes = name in frame and frame[name].dropna().nunique() <= 2
        hint = ", or family='bernoulli' for responses with two values" if outcomes else ""
        count, slash, trials = name.partition("/")  # a proportion, as in R
        if slash:
            raise ValueError(
                f"formula: the family {family.name} takes counts and numbers of trials"
                f"{place_text()}; write '{count.strip()} | trials({trials.strip()}) ~ ...'"
            )
        raise ValueError(
            f"formula: the family {family.name} needs the numbers of trials{place_text()}; "
            f"write '{name} | trials(n) ~ ...'{hint}"
        )

    @property
    def classes(self) -> int:
        """The number of classes."""
        return len(self.labels or ())

    def _codes(self, frame: pd.DataFrame, title: str) -> np.ndarray:
        if self.text not in frame:
            raise DataError(f"formula: {title} must be a column of the data{place_text()}")
        check_present(frame, [self.text], title)
        column = frame[self.text]
        binary = self.family.response == "binary"
        if binary and not is_text(column):
            values = numbers(frame, column, title)
            self.values = values
            self._check_counts(frame, title)
            return values.astype(np.int64)
        unordered = not (isinstance(column.dtype, pd.CategoricalDtype) and column.cat.ordered)
        if self.family.response == "ordered" and is_text(column) and unordered:
            raise DataError(
                f"formula: {title} of the family {self.family.name} must have an order"
                f"{place_text()}; write {order_text(frame, self.text)}"
            )
        if self.family.response == "ordered" and is_real(column):
            values = column.to_numpy(float)
            row = int(np.flatnonzero(values != np.floor(values))[0])
            raise DataError(
                f"formula: {title} of the family {self.family.name} must be whole numbers or "
                f"ordered categories, but is {values[row]:g} in {row_text(frame, row)}"
                f"{place_text()}; for measured numbers take another family, such as 'gaussian'"
            )
        levels = levels_of(column)
        if len(levels) < 2:
            raise DataError(
                f"formula: {title} has one level, {levels[0]!r}, in all {len(frame)} rows"
                f"{place_text()}"
            )
        if binary and len(levels) != 2:
            raise DataError(
                f"formula: {title} must have two levels, got {', '.join(map(repr, levels))}"
                f"{place_text()}; use family='categorical'"
            )
        if len(levels) == 2 and self.family.name == "cumulative":
            raise DataError(
                f"formula: {title} has two classes, {levels[0]!r} and {levels[1]!r}, between which "
                f"is one threshold{place_text()}; use family='bernoulli'"
            )
        if self.family.response == "ordered":
            self._warn_of_gaps(frame, levels)
        self.labels, self.levels = label_texts(levels), levels
        index = {level: i for i, level in enumerate(levels)}
        return np.array([index[value] for value in column])

    def _warn_of_gaps(self, frame: pd.DataFrame, levels: list[Any]) -> None:
        """Warn of classes without rows between the classes that have rows."""
        column, low, high = frame[self.text], levels[0], levels[-1]
        if isinstance(column.dtype, pd.CategoricalDtype):
            categories = list(column.cat.categories)
            between: Iterable[Any] = categories[categories.index(low) : categories.index(high)]
            advice = f"{frame_name(frame)}[{self.text!r}].cat.remove_unused_categories()"
        elif pd.api.types.is_numeric_dtype(column):
            between = range(int(low), int(high))
            advice = categories_text(frame, self.text, ordered=True)
        else:
            return
        used = set(levels)
        unused = list(islice((level for level in between if level not in used), 6))
        if unused:
            listed = ", ".join(map(repr, unused[:5])) + (", ..." if len(unused) > 5 else "")
            warn_user(
                f"formula: the response {self.text!r} has no rows of {listed}, between "
                f"{low!r} and {high!r}: the model has no such class, and predictions give it no "
                f"probability{place_text()}; join it with the class next to it, or say that it "
                f"does not exist: {advice}",
                KinetographWarning,
            )

    def _check_counts(self, frame: pd.DataFrame, title: str) -> None:
        """Raise DataError for values that are not counts, or 0 and 1."""
        high = 1 if self.family.response == "binary" else np.inf
        bad = (self.values != np.floor(self.values)) | (self.values < 0) | (self.values > high)
        if bad.any():
            row = int(np.flatnonzero(bad)[0])
            kind = "0 or 1" if high == 1 else "a whole number from 0 on"
            raise DataError(
                f"formula: {title} must be {kind} in the family {self.family.name}, but is "
                f"{self.values[row]:g} in {row_text(frame, row)}{place_text()}"
            )
        self.values = self.values.astype(np.int64)

    def scales(self, link: str) -> Scales:
        """The scales that default priors use."""
        unit = self.family.name in ("bernoulli", "binomial") and link in ("logit", "probit")
        y = np.asarray(self.values, float)
        if self.family.response in ("ordered", "class", "binary") or self.family.trials:
            return Scales(unit=unit)
        link = "log" if self.family.name in ("lognormal", "hurdle_lognormal") else link
        moments = {}
        if self.family.name in ("gaussian", "student", "skew_normal", "asym_laplace"):
            moments = {"mean": float(y.mean()), "sd": float(deviations(y)) or 1.0}
        transforms: dict[str, Any] = {
            "identity": lambda y: y,
            "log": np.log,
            "inverse": lambda y: 1 / y,
            "sqrt": np.sqrt,
            "1/mu^2": lambda y: 1 / y**2,
        }
        if link not in transforms:
            return Scales(unit=unit, **moments)
        if link in ("log", "inverse", "1/mu^2"):
            y = np.where(y == 0, 0.1, y)
        with np.errstate(invalid="ignore"):
            y = transforms[link](y)
        if not np.isfinite(y).all():
            return Scales(unit=unit, **moments)
        median = float(np.median(y))
        mad = round(1.4826 * float(np.median(np.abs(y - median))), 1)
        return Scales(**moments, median=round(median, 1), mad=max(2.5, mad), unit=unit)

    def trials(self, frame: pd.DataFrame, prefix: str) -> Any:
        """The numbers of trials of the rows of a frame, or None."""
        if "trials" not in self.additions:
            return None
        call = self.additions["trials"]
        values = evaluated(call.positional[0], frame, self._scope, call.text)
        bad = np.flatnonzero((values != np.floor(values)) | (values < 0))
        if len(bad):
            raise DataError(
                f"formula: {call.text} must be a whole number, but is {values[bad[0]]:g} in "
                f"{row_text(frame, int(bad[0]))}{place_text()}"
            )
        return data(values.astype(np.int64), f"{prefix}trials", (f"{prefix}obs",))

    def _check_below_trials(self, frame: pd.DataFrame) -> None:
        call = self.additions["trials"]
        trials = evaluated(call.positional[0], frame, self._scope, call.text)
        above = np.flatnonzero(self.values > trials)
        if len(above):
            row = int(above[0])
            raise DataError(
                f"formula: the response {self.text!r} is {self.values[row]:g} in "
                f"{row_text(frame, row)}, but {call.text} is {trials[row]:g} there{place_text()}"
            )

    def limits(self, frame: pd.DataFrame, censored: bool) -> dict[str, Any]:
        """The arguments `truncation` and `censoring` of the distribution."""
        limits: dict[str, Any] = {}
        if "trunc" in self.additions:
            call = self.additions["trunc"]
            bounds: list[Any] = [None, None]
            names = dict(zip(("lb", "ub"), call.positional)) | call.named
            for i, name in enumerate(("lb", "ub")):
                if name in names:
                    values = evaluated(names[name], frame, self._scope, call.text)
                    bounds[i] = float(values[0]) if np.ptp(values) == 0 else values
            limits["truncation"] = tuple(bounds)
        if censored and "cens" in self.additions:
            limits["censoring"] = "interval"
        return limits

    def _check_support(self, distribution: Array, frame: pd.DataFrame, exact: Any = True) -> None:
        """Raise DataError for numbers that the distribution excludes.

        `exact` says which responses are known exactly.
        """
        assert isinstance(distribution.node, Variable)
        support, values = distribution.node.support, np.asarray(self.values)
        support = support.inner if isinstance(support, Pairs) else support
        bad = exact & ~np.broadcast_to(support.contains(values), values.shape)
        if not bad.any():
            return
        row, other = int(np.flatnonzero(bad)[0]), self.family.with_zeros
        way_out, zeros = "", bool((values == 0).any())
        if self.family.name in ("beta", "zero_inflated_beta") and (values == 1).any():
            flipped = f"'1 - {self.text} ~ ...' with family='zero_inflated_beta'"
            way_out = ZEROS_AND_ONES if zeros else f"for responses with ones write {flipped}"
        elif values[row] == 0 and "cens" in self.additions:
            way_out = "times of 0 are rounded: give half of the unit of time, or intervals"
        elif values[row] == 0 and other:
            way_out = f"for responses with zeros use family={other!r}"
        raise DataError(
            f"formula: the response {self.text!r} must be {support.describe()} in the family "
            f"{self.family.name}, but is {values[row]:g} in {row_text(frame, row)}{place_text()}"
            f"{'; ' if way_out else ''}{way_out}"
        )

    def weighted(self, distribution: Array, frame: pd.DataFrame) -> Array:
        """The distribution with the weights of the rows, if there are any."""
        if "weights" not in self.additions:
            return distribution
        call = self.additions["weights"]
        weights = evaluated(call.positional[0], frame, self._scope, call.text)
        if (weights < 0).any():
            row = int(np.flatnonzero(weights < 0)[0])
            raise DataError(
                f"formula: {call.text} is {weights[row]:g} in {row_text(frame, row)}"
                f"{place_text()}; weights are not negative"
            )
        if not weights.any():
            raise DataError(
                f"formula: {call.text} is 0 in all {len(frame)} rows{place_text()}: the data would "
                "say nothing; give positive weights to rows that count"
            )
        return with_weights(distribution, data(weights, "weights", ("obs",)))

    def observe(self, distribution: Array, frame: pd.DataFrame) -> Array:
        """State the likelihood."""
        if "trials" in self.additions:
            self._check_below_trials(frame)
        intervals = self._intervals(frame) if "cens" in self.additions else None
        if self.family.response == "number":
            exact = True if intervals is None else intervals[:, 0] == intervals[:, 1]
            self._check_support(distribution, frame, exact)
        if intervals is not None:
            y = data(intervals, self.name, (row_dim(frame), None), infinite=True)
        else:
            y = data(self.values, self.name, (row_dim(frame),))
        assert isinstance(y.node, Data)
        y.node.rows = frame.index
        return observe(y, distribution)

    def _intervals(self, frame: pd.DataFrame) -> np.ndarray:
        """The intervals that contain the responses."""
        call = self.additions["cens"]
        column = call.positional[0]
        word = column.strip("'\"")
        if word in _CENSORING and not word.isdigit() and word not in frame:
            raise DataError(
                f"formula: {call.text} has a word in place of a column{place_text()}; make a "
                f"column with a word for each row, and write its name: c = np.where(is_censored, "
                f"{word!r}, 'none'), then cens(c)"
            )
        if column in frame:
            check_present(frame, [column], call.text)
            given = frame[column].to_numpy()
        else:
            given = evaluated(column, frame, self._scope, call.text)
        kinds = [str(v).removesuffix(".0").lower() for v in given]
        for row, kind in enumerate(kinds):
            if kind not in _CENSORING:
                raise DataError(
                    f"formula: {call.text} is {given[row]!r} in {row_text(frame, row)}"
                    f"{place_text()}; it is one of 'none', 'left', 'right' and 'interval', or 0, "
                    "-1, 1 and 2"
                )
        codes = np.array([_CENSORING[kind] for kind in kinds])
        sides = {"right": 1, "left": -1, "interval": 2}
        self.censored = {side: int((codes == code).sum()) for side, code in sides.items()}
        low, high = np.array(self.values, float), np.array(self.values, float)
        high[codes == 1], low[codes == -1] = np.inf, -np.inf
        if (codes == 2).any():
            if len(call.positional) < 2:
                raise ValueError(
                    f"formula: {call.text} has intervals{place_text()}; write cens({column}, y2) "
                    "with the column of their upper ends"
                )
            check_no_dates(frame, call.positional, call.text)
            upper, open_ended = call.positional[1], np.zeros(len(codes), bool)
            if upper in frame and not is_text(frame[upper]):
                # Only intervals have an upper end, and it may be infinite.
                numbers_given = frame[upper].to_numpy(float, na_value=np.nan)
                open_ended = (codes == 2) & (numbers_given == np.inf)
                ends = frame[upper].where((codes == 2) & ~open_ended, self.values)
                frame = frame.assign(**{upper: ends})
            ends = evaluated(upper, frame, self._scope, call.text)
            high[codes == 2] = np.where(open_ended, np.inf, ends)[codes == 2]
            if (low > high).any():
                row = int(np.flatnonzero(low > high)[0])
                raise DataError(
                    f"formula: {call.text}: the upper end {upper} is {high[row]:g} in "
                    f"{row_text(frame, row)}, below the response {self.text}, {low[row]:g}"
                    f"{place_text()}; an interval is from {self.text} to {upper}"
                )
        return np.stack([low, high], -1)
