"""Findings on R-hat and effective sample sizes."""

import json
import math
from collections.abc import Set
from typing import Any

import numpy as np

from . import diagnostics
from .advice import Advice, quantities, worst_names
from .modes import modes_text
from .more_draws import draws_needed
from .reparametrisation import other_form

__all__ = ["ESS_PER_CHAIN", "RHAT_LIMIT", "convergence"]

RHAT_LIMIT = 1.01  # Vehtari et al. (2021), section 4.1
FEWEST = 4  # draws of a chain, so that each half has a variance
FAR_APART = 1.1  # R-hat above which chains may lie in several modes
HOPELESS = 1.5  # R-hat above which all quantities are equally far from mixed
ESS_PER_CHAIN = 100  # Vehtari et al. (2021), section 4.2: below it the diagnostics are unreliable


def convergence(tree: Any, most: int | None = None, kinds: Set[str] = frozenset()) -> list[Advice]:
    """Findings on R-hat and effective sample sizes.

    They are computed from at most `most` draws of each chain. `kinds` are the kinds of the other
    findings. The results need no statistics of a sampler.
    """
    from .check import walkers_of

    posterior, walkers = tree["posterior"].dataset, walkers_of(tree)
    if posterior.sizes["draw"] < FEWEST:
        return _too_short(posterior)
    step = 1 if most is None else max(1, -(-posterior.sizes["draw"] // most))
    draws = {str(n): v.values[:, ::step] for n, v in posterior.data_vars.items() if v.size}
    rhats, sizes = diagnostics.rhat_and_ess_bulk(draws)
    if walkers > 1:
        together = {name: diagnostics.together(d, walkers) for name, d in draws.items()}
        rhats, _ = diagnostics.rhat_and_ess_bulk(together)
    chains = posterior.sizes["chain"] // walkers
    advice = [] if kinds & {"not_finite", "nan"} else _unknown(posterior, sizes)
    # A constant element (the diagonal of a correlation matrix) has no R-hat.
    bad = {n: r > RHAT_LIMIT for n, r in rhats.items()}
    count = sum(int(b.sum()) for b in bad.values())
    if count and chains > 1:
        largest = max(float(np.nanmax(r)) for r in rhats.values() if not np.isnan(r).all())
        finding = f"R-hat is above {RHAT_LIMIT} for {quantities(count)} (up to {_above(largest)}: "
        finding += f"{worst_names(posterior, bad, rhats, HOPELESS)})"
        modes = largest > FAR_APART and walkers == 1 and "tempering" not in tree.attrs
        form = _reason(tree, {n for n in bad if bad[n].any()}, kinds, modes)
        few = "" if walkers > 1 or form or kinds else _too_few(tree, largest, _least(sizes))
        mixing = (
            f": the chains have not mixed. {_constant(posterior, draws)}{form}Run longer (draws=, "
            "warmup=); if it stays, reparametrise or look for several modes."
        )
        advice.append(Advice("rhat", count, finding + (few or mixing)))
    return advice + _small(posterior, sizes, chains) + _small_tails(posterior, draws, sizes, chains)


def _unknown(posterior: Any, sizes: dict[str, np.ndarray]) -> list[Advice]:
    """Quantities without an effective sample size."""
    unknown = {n: np.isnan(s) for n, s in sizes.items()}
    count = sum(int(u.sum()) for u in unknown.values())
    if not count:
        return []
    message = (
        f"R-hat and the effective sample size of {quantities(count)} are not known "
        f"({worst_names(posterior, unknown, sizes)}): some draws are infinite, such as the "
        "logarithm of 0, and so are averages of them. Avoid such values by kg.where or another "
        "formula."
    )
    return [Advice("unknown", count, message)]


def _reason(tree: Any, names: set[str], kinds: Set[str], modes: bool) -> str:
    """A sentence on several modes, or on another form of an unknown."""
    text = ""
    if modes:
        unknowns = json.loads(tree.attrs.get("unknowns", "{}"))
        text = modes_text(tree["posterior"].dataset, names, unknowns)
    return text or ("" if "divergences" in kinds else other_form(tree, names))


def _too_few(tree: Any, largest: float, least: float) -> str:
    """The end of a sentence on a run of too few draws."""
    sizes = tree["posterior"].sizes
    needed = draws_needed(sizes["draw"], sizes["chain"], largest, least, RHAT_LIMIT)
    if not needed:
        return ""
    continues = "sampler_state" in tree.children and "refit" not in tree.attrs
    more = f", or {needed - sizes['draw']} more by kg.extra_samples" if continues else ""
    return (
        f", which the effective sample size of {least:.0f} explains. About {needed} draws per "
        f"chain should bring it below {RHAT_LIMIT}: draws={needed}{more}. If it stays, "
        "reparametrise or look for several modes."
    )


def _small(posterior: Any, sizes: dict[str, np.ndarray], chains: int) -> list[Advice]:
    """Quantities with a small effective sample size."""
    low = {n: s < ESS_PER_CHAIN * chains for n, s in sizes.items()}
    count = sum(int(b.sum()) for b in low.values())
    if not count:
        return []
    names = worst_names(posterior, low, {n: 1.0 / s for n, s in sizes.items()}, 0.5 / chains)
    message = (
        f"the effective sample size is below {ESS_PER_CHAIN} per chain for {quantities(count)} "
        f"(down to {_least(sizes):.0f} in all: {names}): estimates from them "
        "are noisy. Draw more."
    )
    return [Advice("ess", count, message)]


def _small_tails(
    posterior: Any, draws: dict[str, np.ndarray], sizes: dict[str, np.ndarray], chains: int
) -> list[Advice]:
    """Quantities whose tails alone have a small effective sample size."""
    limit = ESS_PER_CHAIN * chains
    tails = {n: diagnostics.ess_tail(d) for n, d in draws.items() if (sizes[n] >= limit).any()}
    low = {n: (t < limit) & (sizes[n] >= limit) for n, t in tails.items()}
    count = sum(int(b.sum()) for b in low.values())
    if not count:
        return []
    worst = {n: 1.0 / t for n, t in tails.items()}
    least = min(float(t[low[n]].min()) for n, t in tails.items() if low[n].any())
    message = (
        f"the effective sample size of the tails is below {ESS_PER_CHAIN} per chain for "
        f"{quantities(count)} (down to {least:.0f} in all: {worst_names(posterior, low, worst)}), "
        "and not of the bulk: means are accurate, but the ends of intervals are noisy. Draw more."
    )
    return [Advice("ess_tail", count, message)]


def _too_short(posterior: Any) -> list[Advice]:
    """A run with too few draws, such as an interrupted one."""
    count = sum(math.prod(v.shape[2:]) for v in posterior.data_vars.values())
    length = posterior.sizes["draw"]
    message = (
        f"{length} draw{'' if length == 1 else 's'} per chain are too few to judge the run: R-hat "
        f"and the effective sample size need at least {FEWEST}. Run longer (draws=)."
    )
    return [Advice("few_draws", count, message)]


def _above(rhat: float) -> str:
    """An R-hat above the limit, with as many digits as show it."""
    texts = (f"{rhat:.{digits}g}" for digits in range(3, 9))
    return next((text for text in texts if float(text) > RHAT_LIMIT), f"{rhat}")


def _least(sizes: dict[str, np.ndarray]) -> float:
    """The least effective sample size that is known."""
    least_sizes = (float(np.nanmin(s)) for s in sizes.values() if np.isfinite(s).any())
    return min(least_sizes, default=math.nan)


def _constant(posterior: Any, draws: dict[str, np.ndarray]) -> str:
    """A sentence on quantities that change only between chains.

    The text is empty without such quantities.
    """
    still = {
        name: (x == x[:, :1]).all((0, 1)) & (x[:, 0] != x[:1, 0]).any(0)
        for name, x in draws.items()
    }
    count = sum(int(flags.sum()) for flags in still.values())
    if not count:
        return ""
    names = worst_names(
        posterior, still, {name: flags.astype(float) for name, flags in still.items()}
    )
    whole = all(draws[name].dtype.kind in "biu" for name, flags in still.items() if flags.any())
    kind = ", as labels of groups that no draw moves to another group" if whole else ""
    return (
        f"{quantities(count)} ({names}) did not change within any chain, and differ between "
        f"chains{kind}. "
    )
