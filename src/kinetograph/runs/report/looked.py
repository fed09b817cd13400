"""What a report looks at: so many draws that memory holds them, and which scalars are the worst.

Results may be far larger than memory, in a store whose arrays are read when they are looked at.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ...samplers.acceptance import divergences
from ..advice import ESS_PER_CHAIN, RHAT_LIMIT, Advice, diagnose, diagnose_averages
from ..results import walkers_of
from ..summary import Summary, row_names, summary
from ..unsolved import refused

__all__ = ["Looked", "looked_at"]

DRAWS = 20_000  # of a chain, at most
NUMBERS = 2**24  # of all targets and chains, at most, unless there are fewer draws than
LEAST = 1000
LAST = 100_000  # draws of a chain whose energies are looked at
BFMI_LIMIT = 0.3  # M. Betancourt, arXiv:1604.00695: below it tails are visited too rarely
# From draws that are of no use to those that are few.
ORDER = (
    "not_finite",
    "nan",
    "doubt",
    "lost_chains",
    "few_draws",
    "unknown",
    "rhat",
    "divergences",
    "unsolved",
    "acceptance",
    "ess",
)


@dataclass(frozen=True)
class Looked:
    """Results as they are, and with every n-th of their draws in memory."""

    whole: Any
    tree: Any
    every: int

    @property
    def posterior(self) -> Any:
        return self.tree["posterior"].dataset

    @property
    def chains(self) -> int:
        """Chains, or ensembles of walkers."""
        return int(self.posterior.sizes["chain"]) // self.walkers

    @property
    def draws(self) -> int:
        """Of each chain, all of them."""
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
        """What the sampler recorded of each draw, or of the last ones; none of other shapes."""
        stats = self.whole["sample_stats"].dataset if "sample_stats" in self.whole.children else {}
        if name not in stats or stats[name].dims != ("chain", "draw"):
            return None
        part = slice(None) if last is None else slice(-last, None)
        return np.asarray(stats[name].isel(draw=part).values)

    @cached_property
    def diverging(self) -> np.ndarray:
        """Whether each draw, of all, ended in a divergence."""
        stats = self.whole["sample_stats"].dataset if "sample_stats" in self.whole.children else {}
        flags = [self.record(name) for name in divergences(map(str, stats))]
        each = [f for f in flags if f is not None]
        if not each:
            return np.zeros((self.whole["posterior"].sizes["chain"], self.draws), bool)
        found: np.ndarray = np.logical_or.reduce(each) & ~refused(self.whole)[1]
        return found

    @cached_property
    def summary(self) -> Summary | None:
        """The table of all scalars, if there are draws."""
        if not self.draws:
            return None
        with np.errstate(all="ignore"):
            return summary(self.tree)

    @cached_property
    def scalars(self) -> list[tuple[str, str, int]]:
        """Each scalar: its name, its target, its place in that; as the summary has them."""
        return [
            (row, str(name), place)
            for name, variable in self.posterior.data_vars.items()
            for place, row in enumerate(row_names(str(name), variable))
        ]

    def values(self, scalar: tuple[str, str, int]) -> np.ndarray:
        """The draws of a scalar that are looked at, (chain, draw)."""
        values = self.posterior[scalar[1]].values
        return np.asarray(values.real, float).reshape((*values.shape[:2], -1))[..., scalar[2]]

    @cached_property
    def badness(self) -> np.ndarray:
        """Of each scalar, how many times R-hat or the sizes of samples miss what they should be.

        Infinite where draws are no numbers, below 0 where they are all the same.
        """
        table = self.summary
        assert table is not None
        sizes = np.fmin(table["ess_bulk"], table["ess_tail"])
        with np.errstate(all="ignore"):
            far = (table["r_hat"] - 1) / (RHAT_LIMIT - 1)
            found = np.fmax(far, ESS_PER_CHAIN * self.chains / sizes)
        found = np.where(np.isfinite(table["mean"]), np.nan_to_num(found), np.inf)
        return np.where(table["sd"] == 0, -1.0, found)

    def worst(self, most: int) -> list[int]:
        """The places of the worst scalars, the worst first; of all, in their order, if so few."""
        if len(self.scalars) <= most:
            return list(range(len(self.scalars)))
        return [int(i) for i in np.argsort(-self.badness, kind="stable")[:most]]

    @cached_property
    def averaged(self) -> int:
        """Of how many draws of a chain there are running averages."""
        averages = self.whole.children.get("averages")
        if averages is None or "mean" not in averages.children:
            return 0
        return int(np.max(averages["count"].values, initial=0))

    @property
    def judged(self) -> bool:
        """Whether there is enough to find something."""
        recorded = "sample_stats" in self.tree.children
        return recorded and (self.draws >= 4 or self.averaged > 0)

    @cached_property
    def energies(self) -> np.ndarray | None:
        """The last energies of each chain, one after the other, if they are all finite."""
        values = self.record("energy", LAST) if self.walkers == 1 else None
        if values is None or values.shape[1] < 4 or not np.isfinite(values).all():
            return None
        return values

    @cached_property
    def fractions(self) -> np.ndarray:
        """Of each chain E-BFMI: what the energy changes by, squared, in units of its variance."""
        values = self.energies
        if values is None:
            return np.empty(0)
        with np.errstate(all="ignore"):
            found: np.ndarray = np.square(np.diff(values, axis=1)).mean(1) / values.var(1)
        return found

    def _slow(self) -> list[Advice]:
        """Energies that change too little."""
        low = [n for n, f in zip(self.numbers, self.fractions, strict=False) if f < BFMI_LIMIT]
        if not low:
            return []
        message = (
            f"the energy changes too little from draw to draw to visit the tails in "
            f"{'chains' if len(low) > 1 else 'chain'} {', '.join(map(str, low))}: E-BFMI is below "
            f"{BFMI_LIMIT}. Reparametrise, as for divergences, or use lighter tails."
        )
        return [Advice("energy", len(low), message)]

    def _poor(self) -> list[Advice]:
        """The doubt about an approximation that its warning named."""
        doubt = self.whole.attrs.get("doubt", "")
        if not doubt:
            return []
        message = f"{doubt} Sample with kg.mcmc; the draws are good starts for its chains."
        return [Advice("doubt", 1, message)]

    @cached_property
    def findings(self) -> list[Advice]:
        """What `kg.diagnose` finds, worst first."""
        if "sample_stats" not in self.tree.children:
            return []
        if self.draws:
            found = diagnose(self.tree) + self._poor() + self._slow()
        elif self.averaged:
            found = diagnose_averages(self.whole, self.averaged)
        else:
            found = []
        return sorted(found, key=lambda f: ORDER.index(f.kind) if f.kind in ORDER else len(ORDER))

    def points(self, chain: np.ndarray, draw: np.ndarray) -> Iterator[np.ndarray]:
        """All scalars at some draws of all, in the order of `scalars`."""
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


def looked_at(tree: Any) -> Looked:
    """Every n-th draw of results, read into memory."""
    posterior = tree["posterior"].dataset
    draws = int(posterior.sizes["draw"])
    each = sum(v.size for v in posterior.data_vars.values()) // max(draws, 1)
    room = min(DRAWS, max(NUMBERS // max(each, 1), LEAST))
    every = max(1, -(-draws // room))
    some = tree.isel(draw=slice(None, None, every), missing_dims="ignore")
    for group in ("posterior", "sample_stats"):
        if group in some.children:
            some[group].load()
    return Looked(tree, some, every)
