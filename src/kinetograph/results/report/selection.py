"""The draws that a report uses, in memory, and the worst scalars.

Results may be far larger than memory, in a store whose arrays are read when they are used. So a
report reads only every n-th draw of a long run.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ...samplers.acceptance import divergences
from ..advice import Advice
from ..check import statistics_of, walkers_of
from ..convergence import ESS_PER_CHAIN, RHAT_LIMIT
from ..diagnosis import diagnose, diagnose_averages
from ..refused_proposals import refused
from ..summary import Summary, row_names, summary

__all__ = ["Selection", "select_draws"]

DRAWS = 20_000  # the largest number of draws of a chain that a report reads
NUMBERS = 2**24  # the largest number of values of all targets and chains together
LEAST = 1000  # draws of a chain that are read even if there are more values than NUMBERS
LAST = 100_000  # draws of a chain whose energies are used
BFMI_LIMIT = 0.3  # M. Betancourt, arXiv:1604.00695: below it the tails are visited too rarely
# The kinds of findings, the worst first.
ORDER = (
    "not_finite",
    "nan",
    "doubt",
    "still",
    "lost_chains",
    "few_draws",
    "unknown",
    "rhat",
    "divergences",
    "unsolved",
    "acceptance",
    "ess",
    "ess_tail",
)


@dataclass(frozen=True)
class Selection:
    """The complete results, and every n-th of their draws in memory."""

    whole: Any
    tree: Any
    every: int

    @property
    def posterior(self) -> Any:
        return self.tree["posterior"].dataset

    @property
    def chains(self) -> int:
        """The number of chains, or of ensembles of walkers."""
        return int(self.posterior.sizes["chain"]) // self.walkers

    @property
    def draws(self) -> int:
        """The number of all draws of each chain."""
        return int(self.whole["posterior"].sizes["draw"])

    @cached_property
    def walkers(self) -> int:
        return walkers_of(self.whole)

    @cached_property
    def numbers(self) -> list[int]:
        """The numbers of the chains, or of the ensembles."""
        labels = self.posterior.coords.get("chain")
        every = range(self.posterior.sizes["chain"]) if labels is None else labels.values
        return [int(n) // self.walkers for n in every[:: self.walkers]]

    def record(self, name: str, last: int | None = None) -> np.ndarray | None:
        """A record of each draw, or of the last ones.

        None if there is no such record, or if it is not one number for each draw.
        """
        stats = statistics_of(self.whole)
        if name not in stats or stats[name].dims != ("chain", "draw"):
            return None
        part = slice(None) if last is None else slice(-last, None)
        return np.asarray(stats[name].isel(draw=part).values)

    @cached_property
    def diverging(self) -> np.ndarray:
        """Whether each draw ended in a divergence, for all draws."""
        stats = statistics_of(self.whole)
        flags = [self.record(name) for name in divergences(map(str, stats))]
        each = [f for f in flags if f is not None]
        if not each:
            return np.zeros((self.whole["posterior"].sizes["chain"], self.draws), bool)
        flags_of_draws: np.ndarray = np.logical_or.reduce(each) & ~refused(self.whole)[1]
        return flags_of_draws

    @cached_property
    def summary(self) -> Summary | None:
        """The summary of all scalars, if there are draws."""
        if not self.draws:
            return None
        with np.errstate(all="ignore"):
            return summary(self.tree)

    @cached_property
    def scalars(self) -> list[tuple[str, str, int]]:
        """Each scalar: its name, its target, and its index in the target.

        The order is the order of the summary.
        """
        return [
            (row, str(name), place)
            for name, variable in self.posterior.data_vars.items()
            for place, row in enumerate(row_names(str(name), variable))
        ]

    def values(self, scalar: tuple[str, str, int]) -> np.ndarray:
        """The selected draws of a scalar, (chain, draw)."""
        values = self.posterior[scalar[1]].values
        return np.asarray(values.real, float).reshape((*values.shape[:2], -1))[..., scalar[2]]

    @cached_property
    def badness(self) -> np.ndarray:
        """The worst ratio of a diagnostic to its limit, for each scalar.

        The diagnostics are R-hat and the effective sample sizes. The ratio is infinite if the draws
        are not finite, and below 0 if they are constant.
        """
        table = self.summary
        assert table is not None
        sizes = np.fmin(table["ess_bulk"], table["ess_tail"])
        with np.errstate(all="ignore"):
            rhat_miss = (table["r_hat"] - 1) / (RHAT_LIMIT - 1)
            misses = np.fmax(rhat_miss, ESS_PER_CHAIN * self.chains / sizes)
        misses = np.where(np.isfinite(table["mean"]), np.nan_to_num(misses), np.inf)
        return np.where(table["sd"] == 0, -1.0, misses)

    def worst(self, most: int) -> list[int]:
        """The indices of the worst scalars, the worst first.

        If there are at most `most` scalars, all in their order.
        """
        if len(self.scalars) <= most:
            return list(range(len(self.scalars)))
        return [int(i) for i in np.argsort(-self.badness, kind="stable")[:most]]

    @cached_property
    def averaged(self) -> int:
        """The number of draws of a chain in the running averages."""
        averages = self.whole.children.get("averages")
        if averages is None or "mean" not in averages.children:
            return 0
        return int(np.max(averages["count"].values, initial=0))

    @property
    def has_enough_draws(self) -> bool:
        """Whether there are enough draws for findings."""
        recorded = "sample_stats" in self.tree.children
        return recorded and (self.draws >= 4 or self.averaged > 0)

    @cached_property
    def energies(self) -> np.ndarray | None:
        """The last energies of each chain, if all are finite."""
        values = self.record("energy", LAST) if self.walkers == 1 else None
        if values is None or values.shape[1] < 4 or not np.isfinite(values).all():
            return None
        return values

    @cached_property
    def e_bfmi(self) -> np.ndarray:
        """E-BFMI of each chain.

        It is the mean squared change of the energy, relative to the variance of the energy.
        """
        values = self.energies
        if values is None:
            return np.empty(0)
        with np.errstate(all="ignore"):
            e_bfmi: np.ndarray = np.square(np.diff(values, axis=1)).mean(1) / values.var(1)
        return e_bfmi

    def _slow_energies(self) -> list[Advice]:
        """A finding about energies that change too little."""
        low = [n for n, f in zip(self.numbers, self.e_bfmi, strict=False) if f < BFMI_LIMIT]
        if not low:
            return []
        message = (
            f"the energy changes too little from draw to draw to visit the tails in "
            f"{'chains' if len(low) > 1 else 'chain'} {', '.join(map(str, low))}: E-BFMI is below "
            f"{BFMI_LIMIT}. Reparametrise, as for divergences, or use lighter tails."
        )
        return [Advice("energy", len(low), message)]

    def _doubts(self) -> list[Advice]:
        """The warning that an approximation gave, as a finding."""
        doubt = self.whole.attrs.get("doubt", "")
        if not doubt:
            return []
        message = f"{doubt} Sample with kg.mcmc; the draws are good starts for its chains."
        return [Advice("doubt", 1, message)]

    @cached_property
    def findings(self) -> list[Advice]:
        """The findings of `kg.diagnose` and of the report, worst first."""
        if "sample_stats" not in self.tree.children:
            return []
        if self.draws:
            advice = diagnose(self.tree) + self._doubts() + self._slow_energies()
        elif self.averaged:
            advice = diagnose_averages(self.whole, self.averaged)
        else:
            advice = []
        return sorted(advice, key=lambda f: ORDER.index(f.kind) if f.kind in ORDER else len(ORDER))

    def points(self, chain: np.ndarray, draw: np.ndarray) -> Iterator[np.ndarray]:
        """All scalars at given draws, in the order of `scalars`."""
        import xarray as xr

        places = {
            "chain": xr.DataArray(chain, dims="point"),
            "draw": xr.DataArray(draw, dims="point"),
        }
        for variable in self.whole["posterior"].dataset.data_vars.values():
            values = variable.isel(places).transpose("point", ...).values
            yield from np.asarray(values.real, float).reshape((len(chain), -1)).T

    def only(self, places: Sequence[int]) -> Summary:
        """Some rows of the summary."""
        table = self.summary
        assert table is not None
        names = tuple(table.names[i] for i in places)
        return replace(
            table, names=names, columns={c: v[list(places)] for c, v in table.columns.items()}
        )


def select_draws(tree: Any) -> Selection:
    """Select every n-th draw of results, and read them into memory."""
    posterior = tree["posterior"].dataset
    draws = int(posterior.sizes["draw"])
    width = sum(v.size for v in posterior.data_vars.values()) // max(draws, 1)
    most_draws = min(DRAWS, max(NUMBERS // max(width, 1), LEAST))
    every = max(1, -(-draws // most_draws))
    selected = tree.isel(draw=slice(None, None, every), missing_dims="ignore")
    for group in ("posterior", "sample_stats"):
        if group in selected.children:
            selected[group].load()
    return Selection(tree, selected, every)
