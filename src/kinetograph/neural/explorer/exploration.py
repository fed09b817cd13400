"""The search for minima: sample, find corner points, refine, repeat.

A leg samples trajectories. The diffusion map of the rows of all legs gives corner points, which are
far from each other in the slowest coordinates; they are the starts of the next leg. Rows with small
gradients are refined to minima. The search ends when the eigenvalues of the map do not change, when
some legs find no new minimum, or after a given number of legs.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ...graph.errors import KinetographWarning
from ...graph.public import public
from ...graph.source import warn_user
from ...optimizers.opt import choose
from ...runs.arguments import check_whole
from ...samplers.baoab import BAOAB
from ...samplers.sampler import Sampler
from ..analysis.diffusion import diffusion_map
from ..analysis.inputs import finite, numbers, positive
from ..analysis.levels import landmarks
from ..counter import Progress, counted
from ..landscape import Landscape
from ..parts import FinishedParts
from ..surfaces.evaluation import identity
from .candidates import candidates
from .legs import Leg, pool, random_starts, sampled_leg
from .minima import merged, refine
from .symmetry import hidden_layers
from .tables import (
    average_table,
    corner_table,
    is_minimum,
    leg_row,
    leg_table,
    minima_table,
)

__all__ = ["Exploration", "explore"]

INVERSE_TEMPERATURE = 100.0  # of the default sampler
MOST_CANDIDATES = 5  # of a trajectory


@public
@dataclass(frozen=True, eq=False)
class Exploration:
    """The results of `kg.neural.explorer.explore`.

    Attributes
    ----------
    landscape
        The losses.
    minima
        A table of the stationary points that were found, by potential: kind ("minimum",
        "degenerate minimum", "saddle" or "maximum"), potential, loss, accuracy, gradient_norm,
        negative, zero and positive (numbers of eigenvalues of the Hessian), leg, and all free
        parameters. A refinement that begins near a saddle may end there.
    corner_points
        A table of the corner points: leg, potential, and all free parameters.
    legs
        A table of the legs: rows, mean and standard deviation of the potential over all rows,
        eigenvalues of the diffusion map, their largest relative change, new minima, and the numbers
        of minima and saddles so far.
    averages
        A table of the averages over all rows of all legs: mean and sd of each parameter.
    stopped_by
        "eigenvalues", "minima" (no new stationary points) or "max_legs".
    """

    landscape: Landscape
    minima: pd.DataFrame
    corner_points: pd.DataFrame
    legs: pd.DataFrame
    averages: pd.DataFrame
    stopped_by: str

    @property
    def points(self) -> np.ndarray:
        """The free parameters of the rows of `minima`, (point, size)."""
        return np.asarray(self.minima[self.landscape.names].to_numpy(float))

    def __str__(self) -> str:
        count = len(self.legs)
        legs = f"after {count} leg{'s' * (count != 1)}, stopped by {self.stopped_by}"
        if not len(self.minima):
            ways = [
                *["a prior keeps minima finite"] * (self.landscape.prior is None),
                *["float64 has smaller gradients"] * (self.landscape.dtype != "float64"),
                "a larger gradient_tolerance accepts flatter valleys",
                "longer legs have more rows to refine",
            ]
            return (
                f"no minimum was found {legs}: no refinement reached the gradient_tolerance; "
                + "; ".join(ways)
            )
        minima = int(is_minimum(self.minima).sum())
        saddles = len(self.minima) - minima
        minimum = "minimum" if minima == 1 else "minima"
        return f"{minima} {minimum} and {saddles} saddle{'s' * (saddles != 1)} {legs}"

    __repr__ = __str__

    def plot(self, axes: Any = None) -> Any:
        """Plot the loss on the plane through three minima.

        The plot has all minima and corner points. It needs matplotlib. The plane contains the two
        best minima; its second direction is the third minimum, or a random direction if there are
        only two.

        Parameters
        ----------
        axes
            Axes of matplotlib; new ones by default.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        ValueError
            If no minimum was found.
        """
        from .picture import plot_exploration

        return plot_exploration(self, axes)


@public
def explore(
    landscape: Landscape,
    starts: Any = None,
    *,
    sampler: Sampler | None = None,
    trajectories: int = 5,
    steps: int = 1000,
    thin: int = 1,
    warmup: int = 0,
    max_legs: int = 10,
    tolerance: float = 1e-4,
    patience: int = 3,
    points: int = 1000,
    prune: float = 0.0,
    map_options: Mapping[str, Any] | None = None,
    optimizer: Any = "bfgs",
    gradient_tolerance: float = 1e-5,
    symmetric: bool = True,
    seed: int = 0,
    workers: int = 1,
    store: Any = None,
    progress: Progress = True,
) -> Exploration:
    """Search for the minima of a network's potential.

    Parameters
    ----------
    landscape
        The losses, a `kg.neural.Landscape`. A prior keeps minima finite.
    starts
        Where the first trajectories begin, (start, size); by default the network's own initial
        parameters. There is one start for each trajectory, or for each walker of each trajectory.
    sampler
        A sampler of `kg.samplers`; by default BAOAB with an inverse temperature of 100. With a
        sampler that moves ensembles, each trajectory is an ensemble of walkers.
    trajectories
        The number of trajectories of a leg.
    steps, thin, warmup
        The transitions of a trajectory in a leg; every thin-th one is a row. Before them, `warmup`
        transitions tune the sampler.
    max_legs, tolerance, patience
        The largest number of legs; the relative change of the eigenvalues of the diffusion map, and
        the number of legs without a new stationary point, that end the search.
    points
        The largest number of rows in the diffusion map.
    prune
        The part of each leg's rows that is left out of the diffusion map: the rows of highest
        potential. Averages are taken over all rows.
    map_options
        Arguments of `kg.neural.analysis.diffusion_map`.
    optimizer, gradient_tolerance
        As of `refine`.
    symmetric
        Whether copies by exchanged or negated hidden units are the same minimum. This needs
        parameters of a perceptron: a weight matrix and at most one bias for each layer.
    seed
        A whole number.
    workers
        The number of threads; it has no effect on the results.
    store
        A folder for finished legs; a search that was interrupted continues from them, also with
        other numbers of workers and legs.
    progress
        As of `kg.neural.surfaces.grid`, for legs.

    Returns
    -------
    Exploration
        With the tables `minima`, `corner_points`, `legs` and `averages`.

    Raises
    ------
    ValueError
        If a number is out of its range, the starts have another shape, or the store has legs of
        another search.

    Examples
    --------
    >>> import jax, numpy as np, kinetograph as kg
    >>> x, network = np.linspace(-1, 1, 20)[:, None], kg.neural.mlp([1], "tanh")
    >>> layout = kg.neural.ParameterLayout(network.start(jax.random.key(0), x[0], 1))
    >>> land = kg.neural.Landscape(network, layout, "mean_squared", x, np.sin(x), prior=3.0)
    >>> found = kg.neural.explorer.explore(
    ...     land, trajectories=2, steps=50, max_legs=2, progress=False)
    >>> len(found.minima) > 0, found.legs["rows"].tolist()
    (True, [100, 100])
    """
    if sampler is None:
        sampler = BAOAB(step_size=0.1, inverse_temperature=INVERSE_TEMPERATURE)
    optimizer = choose("explore", optimizer)
    if not isinstance(sampler, Sampler):
        raise TypeError(
            f"explore: sampler must be a sampler, such as kg.samplers.BAOAB(0.1), got {sampler!r}"
        )
    whole = {"trajectories": trajectories, "steps": steps, "thin": thin, "max_legs": max_legs}
    whole |= {"patience": patience, "workers": workers}
    check_whole("explore", {"seed": (seed, 0), **{name: (n, 1) for name, n in whole.items()}})
    if not 0 <= prune < 1 or steps < 2 * thin:
        raise ValueError(
            f"explore: expected prune from 0 to below 1 and two rows or more of a trajectory, got "
            f"prune={prune!r}, steps={steps} and thin={thin}"
        )
    positive(gradient_tolerance, "explore", "gradient_tolerance")
    count = trajectories * int(sampler.walkers or 1)
    if starts is None:
        next_starts = random_starts(landscape, count, seed)
    else:
        next_starts = finite(numbers(starts, "explore: starts"), "explore", "starts")
        if next_starts.shape != (count, landscape.size):
            raise ValueError(
                f"explore: starts: expected the shape ({count}, {landscape.size}), one for each "
                f"trajectory and walker, got {next_starts.shape}"
            )
    if symmetric and not hidden_layers(landscape.layout):
        warn_user(
            "explore: symmetric: the parameters of the network do not have the form of a "
            "perceptron, a weight matrix and at most one bias for each layer. So copies by "
            "exchanged hidden units count as different minima; give symmetric=False if this is "
            "intended",
            KinetographWarning,
        )
    options = {"outliers": "local"} | dict(map_options or {})
    finished = FinishedParts(
        store,
        {
            **({} if store is None else identity(landscape, next_starts[0])),
            "the starts": next_starts,
            "the sampler": sampler,
            "trajectories": trajectories,
            "steps": steps,
            "thin": thin,
            "warmup": warmup,
            "seed": seed,
            "points": points,
            "prune": prune,
            "map_options": sorted(options.items()),
            "symmetric": symmetric,
            "optimizer": type(optimizer).__name__,
            "gradient_tolerance": gradient_tolerance,
        },
        "explore",
    )
    legs: list[Leg] = []
    rows: list[dict[str, Any]] = []
    corners: list[tuple[int, np.ndarray]] = []
    minima, origin = np.zeros((0, landscape.size)), np.zeros(0, int)
    previous: np.ndarray | None = None
    idle, stopped_by = 0, "max_legs"
    with counted(progress, "explore", max_legs, "legs") as advance:
        for number in range(max_legs):
            part = finished.read(number)
            if part is None:
                leg = sampled_leg(
                    *(landscape, sampler, next_starts, number),
                    trajectories=trajectories,
                    draws=steps // thin,
                    thin=thin,
                    warmup=warmup,
                    seed=seed,
                    workers=workers,
                )
                values, corner = _corners([*legs, leg], points, prune, count, options)
                refined = refine(
                    landscape,
                    np.concatenate([_candidates(leg), corner]),
                    optimizer=optimizer,
                    tolerance=gradient_tolerance,
                    workers=workers,
                )
                part = leg._asdict() | {
                    "eigenvalues": values,
                    "corners": corner,
                    "refined": refined.points[refined.accepted],
                }
                finished.write(number, part)
            leg = Leg(*(part[name] for name in Leg._fields))
            legs.append(leg)
            corners.append((number, part["corners"]))
            everything = np.concatenate([minima, part["refined"]])
            new = 0
            if len(everything):
                groups = merged(landscape, everything, symmetric=symmetric)
                firsts = np.flatnonzero(groups == np.arange(len(groups)))
                new = len(firsts) - len(minima)
                origin = np.concatenate([origin, np.full(new, number)])
                minima = everything[firsts]
            values = part["eigenvalues"]
            change = np.inf
            if previous is not None:
                change = float(np.max(np.abs(values - previous) / np.abs(previous)))
            previous = values
            rows.append(leg_row(number, leg, values, change))
            next_starts = part["corners"]
            idle = 0 if new else idle + 1
            advance(1)
            if change < tolerance or idle >= patience:
                stopped_by = "eigenvalues" if change < tolerance else "minima"
                break
    table = minima_table(landscape, minima, origin)
    return Exploration(
        landscape,
        table,
        corner_table(landscape, corners),
        leg_table(rows, table),
        average_table(landscape, legs),
        stopped_by,
    )


def _candidates(leg: Leg) -> np.ndarray:
    """The rows of a leg that are refined."""
    chosen = []
    for draws, norms in zip(leg.draws, leg.gradient_norm, strict=True):
        if np.isfinite(norms).any():
            places = candidates(norms)
            chosen.append(draws[places[np.argsort(norms[places], kind="stable")[:MOST_CANDIDATES]]])
    return np.concatenate(chosen)


def _corners(
    legs: list[Leg], points: int, prune: float, count: int, options: Mapping[str, Any]
) -> tuple[np.ndarray, np.ndarray]:
    """The eigenvalues of the diffusion map, and the corner points."""
    rows = pool(legs, points, prune)
    slow = diffusion_map(rows, **options)
    return slow.eigenvalues, rows[landmarks(slow.coordinates, count)]
