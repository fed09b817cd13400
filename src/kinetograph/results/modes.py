"""`kg.modes`: the separate regions of a posterior in which draws lie."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..graph.errors import KinetographWarning
from ..graph.markup import table
from ..graph.public import public
from ..graph.source import place_text, warn_user
from ..models.result_types import Results
from .check import check_tree, walkers_of
from .diagnostics import ess_mean, rank_normalised
from .mean_errors import weight_errors
from .mode_changes import changes_text
from .summary import row_names
from .valleys import divided

__all__ = ["Modes", "modes"]

MOST = 20_000  # draws that are examined
FEWEST = 100  # draws in which modes are looked for
NAMED = 3  # quantities that are named for each mode
MOST_NAMED, MOST_TOLD = 100, 4  # quantities that are searched for a warning, and modes in it
MOVING = 20.0  # effective draws of a chain within its mode, below which it hardly moves
LEAST_DISTANCE = 1.0  # of a quantity that differs, in standard deviations of all draws


@public
@dataclass(frozen=True, repr=False)
class Modes:
    """Modes, with their weights and the quantities by which they differ.

    Attributes
    ----------
    weights
        The share of the draws in each mode, the largest first.
    errors
        The standard errors of the weights, from the changes between modes that chains have made
        and the differences between chains. Modes that are rare have the error of a larger weight.
    means
        The mean of each quantity in each mode, by name.
    labels
        The mode of each examined draw, (chain, draw).
    """

    weights: np.ndarray
    errors: np.ndarray
    means: dict[str, np.ndarray]
    labels: np.ndarray
    _spreads: dict[str, float]

    def __len__(self) -> int:
        return len(self.weights)

    def differences(self, mode: int) -> list[str]:
        """The quantities whose means differ most from the other modes."""
        if len(self) < 2:
            return []
        rest = np.delete(self.weights, mode) / np.delete(self.weights, mode).sum()
        distance = {
            name: abs(values[mode] - np.delete(values, mode) @ rest) / self._spreads[name]
            for name, values in self.means.items()
            if self._spreads[name] > 0
        }
        names = sorted(distance, key=lambda name: -distance[name])[:NAMED]
        return [name for name in names if distance[name] > LEAST_DISTANCE] or names[:1]

    def cells(self) -> list[list[str]]:
        """The texts of the table, with a header row.

        One mode has nothing to differ from, and no column for it.
        """
        several = len(self) > 1
        lines = [["mode", "weight", "se", *["where"] * several]]
        for mode, (weight, error) in enumerate(zip(self.weights, self.errors, strict=True)):
            where = ", ".join(f"{n} = {self.means[n][mode]:.3g}" for n in self.differences(mode))
            lines.append([str(mode), f"{weight:.3f}", f"{error:.3f}", *[where] * several])
        return lines

    def __repr__(self) -> str:
        if len(self) == 1:
            return f"one mode, in {self.labels.size} draws"
        lines = self.cells()
        widths = [max(len(line[i]) for line in lines) for i in range(3)]
        return "\n".join(
            "  ".join([*(x.rjust(w) for x, w in zip(line, widths, strict=False)), line[3]]).rstrip()
            for line in lines
        )

    def _repr_html_(self) -> str:
        head, *rows = self.cells()
        return table(head, rows)


@public
def modes(results: "Results") -> Modes:
    """Find the modes of a posterior: regions with few draws between them.

    Draws are divided where the density of a quantity, of a principal direction or of the direction
    between two chains has a valley: less than a quarter of the lower one of the peaks on its two
    sides, by at least 5 standard deviations of the counts. The parts are divided in the same way.
    Whole numbers count as intervals of length 1, so that neighbours are not separate modes. At most
    20,000 draws are examined, at equal distances. Quantities that are constant, or not finite at
    some draw, are left out.

    Modes that no chain has found are not listed. The weights are right only if chains move between
    the modes, or the draws come from `kg.temper`.

    Parameters
    ----------
    results
        Results of `kg.mcmc`, `kg.temper` or another function with a posterior.

    Returns
    -------
    Modes
        Its `weights`, `errors` and `means`, the largest mode first. It prints as a table, which
        names the quantities that differ.

    Raises
    ------
    TypeError
        If the results have no posterior.
    ValueError
        If there are fewer than 100 draws, or each quantity that varies is not finite at some draw.

    Warns
    -----
    KinetographWarning
        If chains hardly move within the modes, which may then be pieces of one mode.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.normal(0, 3, name="x")
    >>> y = kg.observe(4.0, kg.normal(x**2, 0.5), name="y")
    >>> result = kg.modes(kg.temper(kg.model(x), seed=1, progress=False))
    >>> result.weights.round(1), sorted(result.means["x"].round())
    (array([0.5, 0.5]), [np.float64(-2.0), np.float64(2.0)])
    """
    check_tree(results, "modes")
    values, names = _columns(results["posterior"].dataset)
    chains, draws = values.shape[:2]
    if chains * draws < FEWEST:
        raise ValueError(
            f"modes: {chains * draws} draws are too few to tell modes apart; at least {FEWEST} are "
            "needed"
        )
    if not names:
        _check_finite(results["posterior"].dataset)
    result = modes_of(values, names)
    one_chain = walkers_of(results) == 1  # walkers of an ensemble move slowly
    if one_chain and len(result) > 1 and not _least_moving(result, values) >= MOVING:
        warn_user(
            f"modes: chains hardly move within these {len(result)} modes, which may be pieces of "
            "one mode: run longer, or rescale or reparametrise unknowns, until R-hat is near 1",
            KinetographWarning,
        )
    return result


def _check_finite(posterior: Any) -> None:
    for name, values in _numbers(posterior):
        if count := int((~np.isfinite(values)).sum()):
            raise ValueError(
                f"modes: {name} has {count} values that are not finite among {values.size}, and no "
                f"other quantity varies{place_text()}; modes are looked for among finite numbers"
            )


def several_modes(posterior: Any) -> Modes | None:
    """The modes of draws, or None.

    None for one mode, for too few draws, and if no finite quantity varies. None, too, if a quantity
    that differs between the modes moves slowly within them: then the chains have not yet mixed.
    """
    values, names = _columns(posterior)
    return _several(values, names)


def _several(values: np.ndarray, names: Sequence[str]) -> Modes | None:
    if not names or values.shape[0] * values.shape[1] < FEWEST:
        return None
    every = modes_of(values, names)
    return every if len(every) > 1 and _least_moving(every, values) >= MOVING else None


@np.errstate(over="ignore", invalid="ignore")
def modes_text(posterior: Any, names: Collection[str], unknowns: Collection[str]) -> str:
    """A sentence on the modes of targets; empty for one mode.

    `unknowns` are the names of the unknowns of the model. The text is empty, too, if a quantity
    that differs between the modes moves slowly within them: then the chains have not yet mixed.
    """
    values, rows = _columns(posterior[sorted(names)])
    values, rows = values[..., :MOST_NAMED], rows[:MOST_NAMED]
    several = _several(values, rows)
    if several is None:
        return ""
    name = several.differences(0)[0]
    places = [f"{mean:.3g}" for mean in several.means[name][:MOST_TOLD]]
    more = "" if len(several) <= MOST_TOLD else " and others"
    text = f"The draws lie in {len(several)} modes ({name} near {', '.join(places)}{more})"
    every = _every(values)
    arrays = [(n, x[:, ::every]) for n, x in _numbers(posterior[sorted(names)]) if n in unknowns]
    if changes := changes_text(arrays, several.labels):
        return f"{text}, {changes}. "
    return (
        f"{text}, whose weights are not known unless chains move between them: kg.temper(model) "
        "draws from modes in their proportions. "
    )


def _least_moving(every: Modes, values: np.ndarray) -> float:
    """The effective draws of a chain within its modes.

    They are of the slowest quantity. Only quantities that differ between the modes count. Chains
    of one mode have to agree. Quantities are compared by their ranks, so that scales do not matter.
    """
    scores = rank_normalised(np.moveaxis(values[:, :: _every(values)], -1, 0))
    means = np.stack([scores[:, every.labels == mode].mean(1) for mode in range(len(every))], 1)
    distances = np.ptp(means, 1)
    differing = distances >= min(LEAST_DISTANCE, distances.max())
    within = scores[differing] - means[differing][:, every.labels]
    return float(ess_mean(np.moveaxis(within, 0, -1)).min()) / len(values)


@np.errstate(over="ignore", invalid="ignore")
def modes_of(values: np.ndarray, names: Sequence[str]) -> Modes:
    """The modes of draws, (chain, draw, quantity)."""
    values = values[:, :: _every(values)]
    flat = values.reshape(-1, values.shape[-1])
    chain = np.repeat(np.arange(values.shape[0]), values.shape[1])
    points = _between_whole_numbers(flat)
    scale = np.abs(points).max(0)
    points = points / np.where(scale > 0, scale, 1.0)  # the square of a wide spread may overflow
    labels = divided(points, chain)
    order = np.argsort(-np.bincount(labels), kind="stable")
    labels = np.argsort(order)[labels].reshape(values.shape[:2])
    members = (labels[..., None] == np.arange(len(order))).astype(float)
    means = {
        name: np.array([flat[labels.ravel() == mode, i].mean() for mode in range(len(order))])
        for i, name in enumerate(names)
    }
    spreads = {name: float(scale[i] * points[:, i].std()) for i, name in enumerate(names)}
    return Modes(members.mean((0, 1)), weight_errors(members), means, labels, spreads)


def _between_whole_numbers(points: np.ndarray) -> np.ndarray:
    """The points, with whole numbers spread over an interval of length 1.

    Two neighbouring whole numbers have nothing between them, which is not a valley.
    """
    whole = (points == np.rint(points)).all(0)
    random = np.random.default_rng(0)
    return points + np.where(whole, random.uniform(-0.5, 0.5, points.shape), 0.0)


def _every(values: np.ndarray) -> int:
    """The distance of the draws that are examined."""
    return -(-values.shape[0] * values.shape[1] // MOST)


def _columns(posterior: Any) -> tuple[np.ndarray, list[str]]:
    """The numbers that vary, (chain, draw, quantity), and their names."""
    columns, names = [], []
    for name, values in _numbers(posterior):
        flat = values.reshape(*values.shape[:2], -1)
        for place, row in enumerate(row_names(name, posterior[name])):
            column = flat[..., place]
            if np.isfinite(column).all() and np.ptp(column) > 0:
                columns.append(column)
                names.append(row)
    if not columns:
        return np.zeros((posterior.sizes.get("chain", 0), posterior.sizes.get("draw", 0), 1)), []
    return np.stack(columns, -1), names


def _numbers(posterior: Any) -> Iterator[tuple[str, np.ndarray]]:
    """The variables of real numbers, (chain, draw, ...), by name."""
    for name, variable in posterior.data_vars.items():
        if variable.ndim >= 2 and variable.size and variable.dtype.kind in "biuf":
            yield str(name), np.asarray(variable.values, float)
