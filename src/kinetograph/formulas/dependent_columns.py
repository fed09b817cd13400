"""Warnings of columns of a design whose effects the data cannot separate.

A constant column cannot be separated from the intercept, a number times another column not from
that column, and a linear combination of several columns not from them: schools nested in towns, a
sum of columns, interactions with empty cells.

A column is a linear combination if its distance from the span of the columns before it is at most
what rounding the columns to 64 bits makes. Powers of years and columns far from 0 are close to
linear combinations, but much farther than their rounding.
"""

import re

import numpy as np

from ..graph.errors import KinetographWarning
from ..graph.source import place_text, warn_user

__all__ = ["warn_of_dependent_columns"]

_MOST_OPERATIONS = 2e10  # rows times squared columns: some seconds
_SMALLEST = 1e-9  # eigenvalue of the correlations: that of dependent columns is near 1e-15
_ROUNDING = 64 * np.finfo(float).eps  # of some operations that made the columns
_WITH_CONSTANT = re.compile(r"\bc[crs]\(|include_intercept=True")  # splines that sum to 1


def warn_of_dependent_columns(
    values: np.ndarray, names: list[str], terms: list[str], text: str, intercept: bool
) -> None:
    """Warn of columns whose effects the data cannot separate.

    `terms` has the term of each column, and `intercept` says whether the design has one. Linear
    combinations are not searched in designs of very many rows and columns, and of more columns than
    rows.

    Warns
    -----
    KinetographWarning
        Once for each constant column, pair of columns and set of terms.
    """
    places = np.flatnonzero(np.isfinite(values).all(0))  # other columns are refused elsewhere
    names, terms = [names[i] for i in places], [terms[i] for i in places]
    values = values[:, places] if len(names) < values.shape[1] else values
    places = _without_constants(values, names, terms, text, intercept)
    if intercept:
        places = _without_multiples(values, places, names, text)
    names, terms = [names[i] for i in places], [terms[i] for i in places]
    values = values[:, places] if len(names) < values.shape[1] else values
    _warn_of_combinations(values, names, terms, text, intercept)


def _without_constants(
    values: np.ndarray, names: list[str], terms: list[str], text: str, intercept: bool
) -> np.ndarray:
    """The places of columns that vary, with warnings of constant columns."""
    lowest, highest = values.min(0), values.max(0)
    sizes, spans = np.maximum(highest, -lowest), highest - lowest
    zeros: dict[str, list[str]] = {}
    for place in np.flatnonzero(sizes == 0):
        zeros.setdefault(terms[place], []).append(names[place])
    for term, columns in zeros.items():
        listed = ", ".join(map(repr, columns[:5])) + (", ..." if len(columns) > 5 else "")
        are, its = ("is", "its effect") if len(columns) == 1 else ("are", "their effects")
        way = "leave it out of the formula"
        if ":" in term:
            way = f"leave {term!r} out, or join levels"
        warn_user(
            f"formula: {listed} in {text!r} {are} 0 in all {len(values)} rows: the data say "
            f"nothing about {its}; {way}",
            KinetographWarning,
        )
    constant = (spans <= _ROUNDING * sizes) & (sizes > 0) & intercept
    for place in np.flatnonzero(constant):
        warn_user(
            f"formula: {names[place]!r} in {text!r} is {values[0, place]:g} in all {len(values)} "
            "rows: its effect cannot be separated from the intercept; leave it out of the formula",
            KinetographWarning,
        )
    return np.flatnonzero((sizes > 0) & ~constant)


def _without_multiples(
    values: np.ndarray, places: np.ndarray, names: list[str], text: str
) -> np.ndarray:
    """The places without multiples of another column, with warnings of these."""
    first: dict[bytes, int] = {}
    remaining = []
    for place in places:
        column = values[:, place]
        centred = column - column.mean()
        size = np.abs(centred).max()
        if size > 1e-9 * np.abs(column).max():
            largest = centred[np.argmax(np.abs(centred))]
            direction = np.round(centred / largest, 9) + 0.0
            other = first.setdefault(direction.tobytes(), place)
            if other != place:
                warn_user(
                    f"formula: {names[place]!r} in {text!r} is a number times {names[other]!r}, "
                    "plus a constant: their effects cannot be separated; leave one of them out",
                    KinetographWarning,
                )
                continue
        remaining.append(place)
    return np.array(remaining, dtype=int)


def _warn_of_combinations(
    values: np.ndarray, names: list[str], terms: list[str], text: str, intercept: bool
) -> None:
    """Warn of linear combinations of columns, once for each set of terms."""
    warned: set[frozenset[str]] = set()
    for place, others, constant in _combinations(values, intercept):
        last = terms[place]
        of_terms = list(dict.fromkeys([*(terms[other] for other in others), last]))
        if frozenset(of_terms) in warned or any(map(_WITH_CONSTANT.search, of_terms)):
            continue
        warned.add(frozenset(of_terms))
        listed = ", ".join(repr(names[other]) for other in others[:6])
        listed += ", ..." if len(others) > 6 else ""
        way = f"leave one of the terms {', '.join(map(repr, of_terms))} out"
        if ":" in last:
            way = f"leave {last!r} out, or join levels"
        elif len(of_terms) == 1:
            way = f"give {last!r} fewer columns"
        warn_user(
            f"formula: {names[place]!r} in {text!r} is a linear combination of {listed}"
            f"{', and a constant' if constant else ''}: their effects cannot be separated"
            f"{place_text()}; {way}",
            KinetographWarning,
        )


def _combinations(values: np.ndarray, centre: bool) -> list[tuple[int, list[int], bool]]:
    """Columns that are linear combinations of earlier columns.

    With `centre`, a constant is among the earlier columns. Returns for each combination its column,
    the earlier columns, and whether it has a constant.
    """
    rows, count = values.shape
    if count < 2 or count + centre > rows or rows * count**2 > _MOST_OPERATIONS:
        return []
    step = rows // (20 * count)  # columns that are independent in some rows are so in all
    if step > 1 and _are_independent(values[::step], centre):
        return []
    if _are_independent(values, centre):
        return []
    means = values.mean(0) if centre else np.zeros(count)
    scaled = values - means
    scales = np.sqrt(np.einsum("ij,ij->j", scaled, scaled))
    scaled /= scales
    sizes = np.sqrt(np.einsum("ij,ij->j", values, values)) / scales  # of rounded numbers
    columns = np.linalg.qr(scaled, mode="r")
    basis = np.zeros((len(columns), 0))  # orthonormal, of the independent columns
    triangle = np.zeros((0, 0))  # basis @ triangle = the independent columns
    independent: list[int] = []
    combinations: list[tuple[int, list[int], bool]] = []
    for place, column in enumerate(columns.T):
        weights = basis.T @ column
        rest = column - basis @ weights
        again = basis.T @ rest  # one projection alone is not exact
        weights, rest = weights + again, rest - basis @ again
        distance = float(np.linalg.norm(rest))
        if distance < 1e-3:
            factors = np.linalg.solve(triangle, weights)
            if distance <= _ROUNDING * (sizes[place] + np.abs(factors) @ sizes[independent]):
                used = [independent[i] for i in np.flatnonzero(np.abs(factors) > 1e-6)]
                offset = means[place] - factors @ (means / scales)[independent] * scales[place]
                has_constant = abs(offset) > 1e-9 * np.abs(values[:, place]).max()
                combinations.append((place, used, bool(has_constant)))
                continue
        basis = np.column_stack([basis, rest / distance])
        triangle = np.block([[triangle, weights[:, None]], [np.zeros((1, len(weights))), distance]])
        independent.append(place)
    return combinations


def _are_independent(values: np.ndarray, centre: bool) -> bool:
    """Whether columns are certainly independent, by the eigenvalues of their correlations."""
    scaled = values - values.mean(0) if centre else values
    products = scaled.T @ scaled
    scales = np.sqrt(np.diag(products))
    if not (scales > 0).all():
        return False
    return bool(np.linalg.eigvalsh(products / scales / scales[:, None])[0] > _SMALLEST)
