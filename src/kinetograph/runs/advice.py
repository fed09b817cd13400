"""What a finished run should make you look at: warnings with counts, meaning and remedies.

Each is a typed record, so that programs can match on its kind; `kg.mcmc` issues them as Python
warnings of the class `SamplingWarning`.
"""

import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..graph.errors import KinetographWarning
from ..graph.source import warn_user
from ..samplers import __all__ as _OURS
from ..samplers.acceptance import divergences
from . import diagnostics
from .lost import lost_chains
from .nans import nan_draws
from .summary import row_names
from .unsolved import refused

__all__ = [
    "LOOKED_AT",
    "Advice",
    "SamplingWarning",
    "diagnose",
    "diagnose_averages",
    "findings",
    "warn_of_noise",
]

RHAT_LIMIT = 1.01  # Vehtari and others (2021), section 4.1
CLEARLY = 0.6  # of the distance to 1: an advised target of acceptance is at most so far from it
LOOKED_AT = 10_000  # draws of a chain, when a run is diagnosed
FEWEST = 4  # draws of a chain, of which halves have a variance
ESS_PER_CHAIN = 100  # the same, section 4.2: below it the diagnostics themselves are unreliable


class SamplingWarning(KinetographWarning):
    """A finished run has a problem that may make its draws wrong or too few."""


@dataclass(frozen=True)
class Advice:
    """One finding: its kind, how many draws or quantities it concerns, and what to do."""

    kind: str  # "not_finite", "nan", "lost_chains", "unsolved", "divergences", ...
    count: int
    message: str


def warn_of_noise(program: Any, doing: str) -> None:
    """Refuse a sampler that compares values of an estimated potential, or warn where it may."""
    if program.check_noise(doing):
        name = type(program.sampler).__name__
        warn_user(
            f"{doing}: {name} compares values of a potential that a batch of rows only estimates: "
            "what it samples is not the posterior, by an unknown amount",
            SamplingWarning,
        )


def _names(posterior: Any, bad: dict[str, np.ndarray], badness: dict[str, np.ndarray]) -> str:
    """The worst few elements by name, with the labels that the summary shows: `theta[A]`."""
    found = []
    for name, flags in bad.items():
        rows = row_names(name, posterior[name])
        values = np.nan_to_num(np.ravel(badness[name]), nan=np.inf)
        found += [(values[i], rows[i]) for i in np.flatnonzero(flags)]
    found.sort(key=lambda item: -item[0])
    text = ", ".join(name for _, name in found[:5])
    return text + (f" and {len(found) - 5} more" if len(found) > 5 else "")


def diagnose(tree: Any) -> list[Advice]:
    """Findings about a run: lost chains, divergences, saturated trees, R-hat, ESS and others.

    Where the model has a solver, proposals without a solution are counted, too.

    A chain is lost if it does not move while others do, or its log density is far below theirs.

    R-hat should be at most 1.01, the effective sample size at least 100 a chain. The walkers of an
    ensemble are one chain here.

    Parameters
    ----------
    tree
        What `kg.mcmc` returned.

    Returns
    -------
    list of Advice
        Empty where nothing is wrong.

    Examples
    --------
    >>> import kinetograph as kg
    >>> mu = kg.normal(0, 1)
    >>> y = kg.data([0.5, 1.5])
    >>> likelihood = kg.observe(y, kg.normal(mu, 1))
    >>> kg.diagnose(kg.mcmc(kg.model(mu), seed=1, progress=False))
    []
    """
    from .results import check_tree

    check_tree(tree, "diagnose")
    return findings(tree)


def findings(tree: Any, most: int | None = None) -> list[Advice]:
    """The findings of `diagnose`; R-hat and ESS are those of so many draws of a chain at most.

    They are taken at equal distances. R-hat and ESS of a million numbers take longer than the
    draws; these tell as well what is below the limits.
    """
    from .results import walkers_of

    posterior = tree["posterior"].dataset
    found = (
        _not_finite(tree) + _no_numbers(tree) + _lost(tree) + _acceptance(tree) + _unsolved(tree)
    )
    found += _divergences(tree) + _depth(tree)
    every = 1 if most is None else max(1, -(-posterior.sizes["draw"] // most))
    draws = {str(n): v.values[:, ::every] for n, v in posterior.data_vars.items() if v.size}
    if posterior.sizes["draw"] < FEWEST:
        return found + _too_short(posterior)
    explained = any(each.kind in ("not_finite", "nan") for each in found)
    return found + _convergence(posterior, draws, walkers_of(tree), explained)


def _not_finite(tree: Any) -> list[Advice]:
    """Draws at which the log density is no finite number: a step that blew up, say."""
    recorded = tree["sample_stats"].dataset if "sample_stats" in tree else {}
    density = recorded.get("lp", recorded.get("batch_lp"))
    if density is None or density.values.size == 0 or np.isfinite(density.values).all():
        return []
    bad = ~np.isfinite(density.values)
    bad = bad.reshape((*bad.shape[:2], -1)).any(-1)
    count, chain = int(bad.sum()), int(bad.any(1).argmax())
    draw = int(bad[chain].argmax())
    message = (
        f"{count} of {bad.size} draws have no finite log density, from draw {draw} of chain "
        f"{chain} on: a step that is too long for the target makes a chain grow without bound. "
        "Take a smaller step_size; the draws of such a chain are of no use."
    )
    return [Advice("not_finite", count, message)]


def _no_numbers(tree: Any) -> list[Advice]:
    """Targets that are NaN where the log density is finite: a logarithm of what may be negative."""
    shares, draws = nan_draws(tree)
    if not shares:
        return []
    count, chain = int(draws.sum()), int(draws.any(1).argmax())
    names = _names(tree["posterior"].dataset, {n: s > 0 for n, s in shares.items()}, shares)
    message = (
        f"NaN in {count} of {draws.size} draws, from draw {int(draws[chain].argmax())} of chain "
        f"{chain} on, of {names}, though the log density is finite there: what is computed of the "
        "unknowns is no number, such as the logarithm of a negative one or 0/0, and its averages "
        "are none. Keep it from such values, by kg.where or another formula."
    )
    return [Advice("nan", count, message)]


def _lost(tree: Any) -> list[Advice]:
    from .results import walkers_of

    found = lost_chains(tree) if walkers_of(tree) == 1 else {}
    if not found:
        return []
    each = "; ".join(f"chain {chain} {what}" for chain, what in list(found.items())[:5])
    more = f"; and {len(found) - 5} more" if len(found) > 5 else ""
    message = (
        f"{len(found)} of {tree['sample_stats'].sizes['chain']} chains are not where the others "
        f"are: {each}{more}. The posterior may have several modes or a narrow neck, or such a "
        "chain needs a better start (initial={name: value}, or initial=kg.opt(model)) or a "
        "longer warm-up (warmup=). Leave its draws out only if you know why."
    )
    return [Advice("lost_chains", len(found), message)]


def _acceptance(tree: Any) -> list[Advice]:
    """Records of an acceptance probability that are none: tuning went by them."""
    recorded = tree["sample_stats"].dataset
    if "acceptance_rate" not in recorded or "step_size" not in recorded:
        return []
    values = recorded["acceptance_rate"].values
    bad = ~((values >= 0) & (values <= 1 + 1e-6))
    if "diverging" in recorded:
        bad &= ~(np.isnan(values) & recorded["diverging"].values)  # counts as 0
    if not bad.any():
        return []
    worst = values[bad][0]
    message = (
        f"{int(bad.sum())} of {bad.size} draws have an acceptance_rate that is no probability "
        f"({worst:.3g}), by which the step size was tuned: the step should record one in every "
        "way through it, such as kg.minimum(1.0, kg.exp(-error)), and 0 where that is not a "
        "number."
    )
    return [Advice("acceptance", int(bad.sum()), message)]


def _unsolved(tree: Any) -> list[Advice]:
    """Proposals at which a solver of the model had no solution, most likely."""
    solvers, bad = refused(tree)
    if not bad.any():
        return []
    by_chain = bad.sum(1)
    count, worst = int(by_chain.sum()), int(by_chain.argmax())
    message = (
        f"in {count} of {bad.size} draws ({percent(count, bad.size)}), {int(by_chain[worst])} "
        f"of them in chain {worst}, a proposal was refused as it had no finite log density, as is "
        f"so where there is no solution by {', '.join(solvers[:3])}. If values there are possible "
        "they are missing from the draws: give the solver more max_steps, a larger rtol or, if the "
        'equation is stiff, method="rodas5p", and a right-hand side that is finite a little beyond '
        "its domain. If they are not, exclude them by priors."
    )
    return [Advice("unsolved", count, message)]


def percent(count: int, size: int) -> str:
    """A share, with two digits where it is below 100 %."""
    share = 100 * count / size
    return f"{share:.0f} %" if share >= 99 else f"{share:.2g} %"


def _divergences(tree: Any) -> list[Advice]:
    stats = tree["sample_stats"].dataset
    flags = [stats[name].values for name in divergences(map(str, stats))]
    diverging = np.logical_or.reduce(flags) if flags else np.zeros((1, 1), bool)
    diverging = diverging & ~refused(tree)[1]  # whose energy was none at all
    return [_diverged(tree, diverging.sum(1), diverging.size)] if diverging.any() else []


def _settings(tree: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(tree.attrs.get("sampler_settings", "{}"))
    return found


def _smaller_steps(tree: Any) -> str:
    """How the sampler is asked for smaller steps."""
    name = tree.attrs.get("sampler", "NUTS")
    target = np.max(_settings(tree).get("target_acceptance", 0.8))
    risen = _target_reached(tree)
    stats = tree["sample_stats"].dataset if "sample_stats" in tree else {}
    if stats.get("acceptance_rate") is not None and "step_size" not in stats:  # it was not tuned
        return f"a smaller step_size of {name}"
    reached = max(target, risen)
    clearly = 1 - CLEARLY * (1 - reached)
    aim = next((aim for aim in (0.95, 0.99) if aim >= clearly), (1 + reached) / 2)
    room = "kg.samplers." if name in _OURS else ""
    raised = f" (warm-up raised it to {risen:.2g} by itself)" if risen > target else ""
    return f"smaller steps: sampler={room}{name}(target_acceptance={aim:.4g}){raised}"


def _target_reached(tree: Any) -> float:
    """The largest target of acceptance that a chain ended with; 0 where it is not known."""
    state = tree["sampler_state"].dataset if "sampler_state" in tree.children else {}
    targets = state.get("hyper_target_acceptance")
    return 0.0 if targets is None else float(np.max(targets.values))


def _diverged(tree: Any, by_chain: np.ndarray, size: int) -> Advice:
    count, worst = int(by_chain.sum()), int(by_chain.argmax())
    message = (
        f"{count} of {size} draws ({percent(count, size)}) ended in a "
        f"divergence, {int(by_chain[worst])} of them in chain {worst}: the step was too long for "
        "the curvature there, and that region may be missing from the draws. Reparametrise (a "
        "hierarchy often wants theta = mu + tau * z), use tighter priors, or "
        f"{_smaller_steps(tree)}."
    )
    return Advice("divergences", count, message)


def diagnose_averages(tree: Any, draws: int) -> list[Advice]:
    """Findings about a run of so many draws a chain that kept none: divergences, averages."""
    by_chain = tree["sampler_state"]["divergences"].values
    found = [_diverged(tree, by_chain, by_chain.size * draws)] if by_chain.any() else []
    for name, mean in tree["averages/mean"].data_vars.items():
        bad = ~np.isfinite(mean.values).reshape((mean.shape[0], -1)).all(1)
        if bad.any():
            message = (
                f"the average of {name} is no finite number in {int(bad.sum())} of {bad.size} "
                "chains: a step that is too long for the target makes a chain grow without bound. "
                "Take a smaller step_size."
            )
            return [*found, Advice("not_finite", int(bad.sum()), message)]
    return found


def _depth(tree: Any) -> list[Advice]:
    limit = _settings(tree).get("max_depth")
    depth = tree["sample_stats"].dataset.get("tree_depth")
    if limit is None or depth is None:
        return []
    count = int((depth.values >= limit).sum())
    if not count:
        return []
    message = (
        f"{count} of {depth.size} draws ({percent(count, depth.size)}) reached the largest "
        f"tree depth, {limit}: the sampler wanted to go further. The draws are right but costly; "
        "rescale or reparametrise strongly correlated unknowns, or use "
        f"NUTS(max_depth={limit + 2})."
    )
    return [Advice("tree_depth", count, message)]


def _too_short(posterior: Any) -> list[Advice]:
    """A run whose chains end before anything can be said of them: one that was interrupted."""
    count = sum(math.prod(v.shape[2:]) for v in posterior.data_vars.values())
    length = posterior.sizes["draw"]
    message = (
        f"{length} draw{'' if length == 1 else 's'} a chain are too few to judge the run: R-hat "
        f"and the effective sample size need {FEWEST} at least. Run longer (draws=)."
    )
    return [Advice("few_draws", count, message)]


def _quantities(count: int) -> str:
    return f"{count} quantit{'y' if count == 1 else 'ies'}"


def _convergence(
    posterior: Any, draws: dict[str, np.ndarray], walkers: int, explained: bool
) -> list[Advice]:
    chains = posterior.sizes["chain"] // walkers
    rhats, sizes = diagnostics.rhat_and_ess_bulk(draws)
    if walkers > 1:
        together = {name: diagnostics.together(d, walkers) for name, d in draws.items()}
        rhats, _ = diagnostics.rhat_and_ess_bulk(together)
    found = []
    unknown = {n: np.isnan(s) for n, s in sizes.items()}
    count = sum(int(u.sum()) for u in unknown.values())
    if count and not explained:
        found.append(
            Advice(
                "unknown",
                count,
                f"R-hat and the effective sample size of {_quantities(count)} are not known "
                f"({_names(posterior, unknown, sizes)}): some draws are infinite, such as the "
                "logarithm of 0, and so are averages of them. Keep what is computed from such "
                "values, by kg.where or another formula.",
            )
        )
    # An element that never moves on purpose (the diagonal of a correlation matrix) has no R-hat.
    bad = {n: r > RHAT_LIMIT for n, r in rhats.items()}
    count = sum(int(b.sum()) for b in bad.values())
    if count and chains > 1:
        largest = max(float(np.nanmax(r)) for r in rhats.values() if not np.isnan(r).all())
        found.append(
            Advice(
                "rhat",
                count,
                f"R-hat is above {RHAT_LIMIT} for {_quantities(count)} (up to {largest:.3g}: "
                f"{_names(posterior, bad, rhats)}): the chains have not mixed. Run longer "
                "(draws=, warmup=); if it stays, reparametrise or look for several modes.",
            )
        )
    low = {n: s < ESS_PER_CHAIN * chains for n, s in sizes.items()}
    count = sum(int(b.sum()) for b in low.values())
    if count:
        least = min(float(np.nanmin(s)) for s in sizes.values() if np.isfinite(s).any())
        worst = {n: 1.0 / s for n, s in sizes.items()}
        found.append(
            Advice(
                "ess",
                count,
                f"the effective sample size is below {ESS_PER_CHAIN} a chain for "
                f"{_quantities(count)} (down to {least:.0f}: {_names(posterior, low, worst)}): "
                "estimates from them are noisy. Draw more.",
            )
        )
    return found
