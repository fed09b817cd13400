"""`kg.modes`: the separate regions of a posterior in which draws lie."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np

from ..graph.public import public
from ..models.result_types import Results
from .check import check_tree
from .diagnostics import ess_mean
from .summary import row_names

__all__ = ["Modes", "modes"]

MOST = 20_000  # draws that are examined
FEWEST = 100  # draws in which modes are looked for
SHALLOW = 0.25  # of the density at the lower peak: a higher valley does not separate modes
LEAST_DEPTH = 5.0  # standard deviations of the counts
WIDTHS = (0.9, 0.3)  # of half a window: Silverman's factor, and a third of it
MOST_WINDOWS = 2000
MOST_COORDINATES, PRINCIPAL, MOST_CHAINS = 2000, 3, 8
MOST_MODES = 50
NEIGHBOURS, MOST_NEAR, MOST_PLANES = 5, 2000, 20  # in a search for points where modes meet
DENSE = 1.5  # distance of neighbours where modes meet, relative to the median
NAMED = 3  # quantities that are named for each mode
MOST_NAMED, MOST_TOLD = 100, 4  # quantities that are searched for a warning, and modes in it
LEAST_DISTANCE = 1.0  # of a named quantity, in standard deviations of all draws


@public
class Modes:
    """Modes, with their weights and the quantities by which they differ.

    Attributes
    ----------
    weights
        The share of the draws in each mode, the largest first.
    errors
        The standard errors of the weights. They count only changes between modes that chains have
        made.
    means
        The mean of each quantity in each mode, by name.
    labels
        The mode of each examined draw, (chain, draw).
    """

    def __init__(
        self,
        weights: np.ndarray,
        errors: np.ndarray,
        means: dict[str, np.ndarray],
        spreads: dict[str, float],
        labels: np.ndarray,
    ) -> None:
        self.weights, self.errors, self.means = weights, errors, means
        self.labels, self._spreads = labels, spreads

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

    def rows(self) -> list[list[str]]:
        """The cells of the table."""
        lines = []
        for mode, (weight, error) in enumerate(zip(self.weights, self.errors, strict=True)):
            where = ", ".join(f"{n} = {self.means[n][mode]:.3g}" for n in self.differences(mode))
            lines.append([str(mode), f"{weight:.3f}", f"{error:.3f}", where])
        return lines

    def __repr__(self) -> str:
        head = ["mode", "weight", "se", "where"]
        lines = [head, *self.rows()]
        widths = [max(len(line[i]) for line in lines) for i in range(3)]
        return "\n".join(
            "  ".join([*(x.rjust(w) for x, w in zip(line, widths, strict=False)), line[3]])
            for line in lines
        )


@public
def modes(results: "Results") -> Modes:
    """Find the modes of a posterior: regions with few draws between them.

    Draws are divided where the density of a quantity, of a principal direction or of the direction
    between two chains has a valley: less than a quarter of the lower one of the peaks on its two
    sides, by at least 5 standard deviations of the counts. The parts are divided in the same way.
    At most 20,000 draws are examined, at equal distances.

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
        If there are fewer than 100 draws.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.normal(0, 3, name="x")
    >>> y = kg.observe(4.0, kg.normal(x**2, 0.5), name="y")
    >>> kg.modes(kg.temper(kg.model(x), seed=1, progress=False))
    mode  weight     se  where
       0   0.508  0.025  x = 2
       1   0.492  0.025  x = -2
    """
    check_tree(results, "modes")
    values, names = _columns(results["posterior"].dataset)
    chains, draws = values.shape[:2]
    if chains * draws < FEWEST:
        raise ValueError(
            f"modes: {chains * draws} draws are too few to tell modes apart; at least {FEWEST} are "
            "needed"
        )
    return modes_of(values, names)


def modes_text(posterior: Any, names: Collection[str]) -> str:
    """A sentence on the modes of targets; empty for one mode."""
    values, rows = _columns(posterior[sorted(names)])
    if values.shape[0] * values.shape[1] < FEWEST:
        return ""
    found = modes_of(values[..., :MOST_NAMED], rows[:MOST_NAMED])
    if len(found) < 2:
        return ""
    name = found.differences(0)[0]
    places = [f"{mean:.3g}" for mean in found.means[name][:MOST_TOLD]]
    more = "" if len(found) <= MOST_TOLD else " and others"
    return (
        f"The draws lie in {len(found)} modes ({name} near {', '.join(places)}{more}), whose "
        "weights are not known unless chains move between them: kg.temper(model) draws from modes "
        "in their proportions. "
    )


def modes_of(values: np.ndarray, names: Sequence[str]) -> Modes:
    """The modes of draws, (chain, draw, quantity)."""
    every = -(-values.shape[0] * values.shape[1] // MOST)
    values = values[:, ::every]
    flat = values.reshape(-1, values.shape[-1])
    chain = np.repeat(np.arange(values.shape[0]), values.shape[1])
    labels = _labels(flat, chain)
    order = np.argsort(-np.bincount(labels), kind="stable")
    labels = np.argsort(order)[labels].reshape(values.shape[:2])
    indicators = [(labels == mode).astype(float) for mode in range(len(order))]
    weights = np.array([x.mean() for x in indicators])
    errors = np.array([_error(x) for x in indicators])
    means = {
        name: np.array([flat[labels.ravel() == mode, i].mean() for mode in range(len(order))])
        for i, name in enumerate(names)
    }
    spreads = {name: float(flat[:, i].std()) for i, name in enumerate(names)}
    return Modes(weights, errors, means, spreads, labels)


def _error(indicator: np.ndarray) -> float:
    """The standard error of the mean of an indicator."""
    variance = float(indicator.var())
    if variance == 0:
        return 0.0
    if not indicator.var(1).any():  # no chain has changed its mode
        return float(np.sqrt(variance / len(indicator)))
    return float(np.sqrt(variance / float(ess_mean(indicator))))


def _columns(posterior: Any) -> tuple[np.ndarray, list[str]]:
    """The numbers that vary, (chain, draw, quantity), and their names."""
    columns, names = [], []
    for name, variable in posterior.data_vars.items():
        values = np.asarray(variable.values, float)
        if values.ndim < 2 or not values.size:
            continue
        flat = values.reshape(*values.shape[:2], -1)
        for place, row in enumerate(row_names(str(name), variable)):
            column = flat[..., place]
            if np.isfinite(column).all() and np.ptp(column) > 0:
                columns.append(column)
                names.append(row)
    if not columns:
        return np.zeros((*_lead(posterior), 1)), ["constant"]
    return np.stack(columns, -1), names


def _lead(posterior: Any) -> tuple[int, int]:
    return posterior.sizes["chain"], posterior.sizes["draw"]


def _labels(points: np.ndarray, chain: np.ndarray) -> np.ndarray:
    """The mode of each point."""
    labels, pending, count = np.zeros(len(points), int), [np.arange(len(points))], 0
    while pending:
        places = pending.pop()
        sides = _sides(points[places], chain[places]) if count < MOST_MODES else None
        if sides is None:
            labels[places] = count
            count += 1
        else:
            pending += [places[~sides], places[sides]]
    return labels


def _sides(points: np.ndarray, chain: np.ndarray) -> np.ndarray | None:
    """Whether each point lies above the deepest valley; None without one."""
    places, which, first = _unique(points)
    best, along, level = LEAST_DEPTH, None, 0.0
    for direction in _directions(places, chain[first]):
        projected = places @ direction if direction.ndim else places[:, int(direction)]
        depth, place = _valley(np.sort(projected))
        if depth > best:
            best, along, level = depth, projected, place
    if along is None or _joined(places, along, level):
        return None
    return (along > level)[which]


def _joined(points: np.ndarray, along: np.ndarray, level: float) -> bool:
    """Whether the sides of a valley meet where points are dense.

    A ring has a valley along each coordinate, but it is one mode: in a plane with another
    coordinate, the distances to the neighbours where the sides meet are as elsewhere.
    """
    from scipy.spatial import cKDTree

    every = -(-len(points) // MOST_NEAR)
    points, along = points[::every], along[::every]
    sides = along > level
    for coordinate in points.T[:MOST_PLANES]:
        plane = np.column_stack([along, coordinate])
        plane = plane / np.maximum(plane.std(0), np.finfo(float).tiny)
        if abs(np.corrcoef(plane.T)[0, 1]) > 1 - 1e-9:
            continue  # the same direction
        distances, near = cKDTree(plane).query(plane, NEIGHBOURS + 1)
        crossing = (sides[near[:, 1:]] != sides[:, None]).any(1)
        far = distances[:, -1]
        if crossing.sum() >= NEIGHBOURS and np.median(far[crossing]) < DENSE * np.median(far):
            return True
    return False


def _unique(points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The distinct points.

    Also the place of each point among them, and the first place of each distinct point.
    """
    places, first, which = np.unique(points, axis=0, return_index=True, return_inverse=True)
    return places, which.ravel(), first


def _directions(points: np.ndarray, chain: np.ndarray) -> Iterator[np.ndarray]:
    """Coordinates, principal directions, and directions between chains."""
    spread = points.std(0)
    scale = np.where(spread > 0, spread, 1.0)
    for place in range(min(points.shape[1], MOST_COORDINATES)):
        yield np.asarray(place)
    if points.shape[1] == 1 or len(points) < 2:
        return
    _, _, rows = np.linalg.svd((points - points.mean(0)) / scale, full_matrices=False)
    for row in rows[:PRINCIPAL]:
        yield row / scale
    means = [points[chain == c].mean(0) for c in np.unique(chain)]
    for i, one in enumerate(means[:MOST_CHAINS]):
        for other in means[i + 1 : MOST_CHAINS]:
            if np.any(one != other):
                yield (one - other) / scale**2


def _valley(values: np.ndarray) -> tuple[float, float]:
    """The depth of the deepest valley of sorted values, and its place.

    The density is compared in windows of one width. A valley has less than SHALLOW of the points
    of the lower one of the peaks on its two sides; its depth is their difference in standard
    deviations of the counts.
    """
    size = len(values)
    low, high = values[int(0.001 * size)], values[min(int(0.999 * size), size - 1)]
    quarter, three = values[size // 4], values[3 * size // 4]
    spread = min(float(values.std()), (three - quarter) / 1.34) or float(values.std())
    best = 0.0, 0.0
    for fraction in WIDTHS:
        half = fraction * spread * size**-0.2
        if not half > 0 or not high > low:
            continue
        count = int(min((high - low) / half * 2, MOST_WINDOWS)) + 2
        middles = np.linspace(low, high, count)
        counts = np.searchsorted(values, middles + half) - np.searchsorted(values, middles - half)
        left = np.maximum.accumulate(counts)
        right = np.maximum.accumulate(counts[::-1])[::-1]
        peak = np.minimum(left, right)
        depth = (peak - counts) / np.sqrt(np.maximum(peak + counts, 1))
        depth[counts >= SHALLOW * peak] = 0.0
        place = int(depth.argmax())
        if depth[place] > best[0]:
            lowest = np.flatnonzero(depth >= depth[place] - 1e-9)
            best = float(depth[place]), float(middles[lowest[len(lowest) // 2]])
    return best
