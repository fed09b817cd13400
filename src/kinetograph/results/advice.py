"""Warnings about a finished run, with counts, meaning and remedies.

Each finding is a typed record, so that programs can match on its kind. `kg.mcmc` issues the
findings as Python warnings of the class `SamplingWarning`.
"""

import json
import math
from collections.abc import Set
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..graph.errors import KinetographWarning
from ..graph.public import public
from ..graph.source import warn_user
from ..samplers import __all__ as _OURS
from ..samplers.acceptance import divergences
from . import diagnostics
from .chosen_forms import chosen_forms, chosen_precisions, forms_text
from .divergence_places import place_of
from .lost_chains import lost_chains
from .modes import modes_text
from .more_draws import draws_needed
from .nan_draws import nan_draws
from .refused_proposals import refused
from .reparametrisation import other_form, remedy
from .still_chains import still_chains
from .summary import row_names

__all__ = [
    "LOOKED_AT",
    "Advice",
    "SamplingWarning",
    "convergence",
    "diagnose",
    "diagnose_averages",
    "findings",
    "warn_of_noise",
]

RHAT_LIMIT = 1.01  # Vehtari et al. (2021), section 4.1
CLEARLY = 0.6  # an advised target of acceptance is at most this far from 1, relative to now
LOOKED_AT = 10_000  # draws of a chain that are examined after a run
FEWEST = 4  # draws of a chain, so that each half has a variance
FAR_APART = 1.1  # R-hat above which chains may lie in several modes
ESS_PER_CHAIN = 100  # Vehtari et al. (2021), section 4.2: below it the diagnostics are unreliable


class SamplingWarning(KinetographWarning):
    """A problem of a finished run: wrong draws, or too few."""


@public
@dataclass(frozen=True)
class Advice:
    """One finding: its kind, its count, and what to do.

    The count is the number of draws or quantities concerned.
    """

    kind: str  # "not_finite", "nan", "lost_chains", "unsolved", "divergences", ...
    count: int
    message: str


def warn_of_noise(program: Any, doing: str) -> None:
    """Refuse a sampler that compares noisy potentials, or warn.

    The potential of a model with mini-batches is an estimate. The model may allow such a sampler.
    Other noise of the potential, such as dropout, gives a warning for any sampler.
    """
    if program.check_noise(doing):
        name = type(program.sampler).__name__
        warn_user(
            f"{doing}: {name} compares values of a potential that a batch of rows only estimates: "
            "its draws differ from the posterior by an unknown amount",
            SamplingWarning,
        )
    batch = program.model.batch
    if batch is not None and batch.noise is not None and not program.sampler.optimizes:
        warn_user(
            f"{doing}: {batch.noise} makes the potential random in each step of "
            f"{type(program.sampler).__name__}: its draws differ from the posterior by an unknown "
            f"amount; write {batch.noise}=None for sampling",
            SamplingWarning,
        )


def _names(posterior: Any, bad: dict[str, np.ndarray], badness: dict[str, np.ndarray]) -> str:
    """The names of the worst elements, as in the summary: `theta[A]`."""
    named = []
    for name, flags in bad.items():
        rows = row_names(name, posterior[name])
        values = np.nan_to_num(np.ravel(badness[name]), nan=np.inf)
        named += [(values[i], rows[i]) for i in np.flatnonzero(flags)]
    named.sort(key=lambda item: -item[0])
    text = ", ".join(name for _, name in named[:5])
    return text + (f" and {len(named) - 5} more" if len(named) > 5 else "")


@public
def diagnose(tree: Any, *, forms: bool = False) -> list[Advice]:
    """Findings about a run: lost chains, divergences, R-hat, sample sizes and more.

    If no chain moves, this is the only finding about draws. A chain is lost if it does not move
    while the other chains do, or if its log density is far below the other chains'. Saturated trees
    are counted, and, if the model has a solver, proposals without a solution.

    R-hat should be at most 1.01, and the effective sample size at least 100 for each chain. The
    walkers of an ensemble are one chain here.

    Parameters
    ----------
    tree
        Results of `kg.mcmc`.
    forms
        Also tell the forms of hierarchical unknowns that warm-up has chosen: an entry of the kind
        "forms", which is not a problem.

    Returns
    -------
    list of Advice
        Empty if no problem is found.

    Examples
    --------
    >>> import kinetograph as kg
    >>> mu = kg.normal(0, 1)
    >>> y = kg.data([0.5, 1.5])
    >>> likelihood = kg.observe(y, kg.normal(mu, 1))
    >>> kg.diagnose(kg.mcmc(kg.model(mu), seed=1, progress=False))
    []
    """
    from .check import check_tree

    check_tree(tree, "diagnose")
    chosen = [*chosen_forms(tree).values(), *chosen_precisions(tree).values()] if forms else []
    told = f"warm-up chose these forms (c = 1: centred, 0: non-centred): {forms_text(tree)}"
    about_forms = [Advice("forms", sum(values.shape[1] for values in chosen), told)]
    return (about_forms if chosen else []) + findings(tree)


def findings(tree: Any, most: int | None = None) -> list[Advice]:
    """The findings of `diagnose`, from a bounded number of draws.

    R-hat and effective sample sizes are computed from at most `most` draws of each chain, at equal
    distances. For a million numbers they would take longer than the draws, and a part of the draws
    shows problems as well.
    """
    if still := still_chains(tree):
        return [Advice("still", tree["posterior"].sizes["chain"], still), *_unsolved(tree)]
    advice = (
        _not_finite(tree) + _no_numbers(tree) + _lost(tree) + _acceptance(tree) + _unsolved(tree)
    )
    advice += _divergences(tree)
    kinds = {each.kind for each in advice + _depth(tree, [])}
    about_convergence = convergence(tree, most, kinds)
    return advice + _depth(tree, advice + about_convergence) + about_convergence


def convergence(tree: Any, most: int | None = None, found: Set[str] = frozenset()) -> list[Advice]:
    """Findings on R-hat and effective sample sizes.

    They are computed from at most `most` draws of each chain. `found` are the kinds of the other
    findings. The results need no statistics of a sampler.
    """
    from .check import walkers_of

    posterior = tree["posterior"].dataset
    if posterior.sizes["draw"] < FEWEST:
        return _too_short(posterior)
    step = 1 if most is None else max(1, -(-posterior.sizes["draw"] // most))
    draws = {str(n): v.values[:, ::step] for n, v in posterior.data_vars.items() if v.size}
    return _convergence(tree, draws, walkers_of(tree), found)


def _not_finite(tree: Any) -> list[Advice]:
    """Draws whose log density is not finite.

    For example after a step that was too long.
    """
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
        "Take a smaller step_size, and do not use the draws of such a chain."
    )
    return [Advice("not_finite", count, message)]


def _no_numbers(tree: Any) -> list[Advice]:
    """Targets that are NaN although the log density is finite.

    For example the logarithm of a quantity that may be negative.
    """
    shares, draws = nan_draws(tree)
    if not shares:
        return []
    count, chain = int(draws.sum()), int(draws.any(1).argmax())
    names = _names(tree["posterior"].dataset, {n: s > 0 for n, s in shares.items()}, shares)
    message = (
        f"NaN in {count} of {draws.size} draws, from draw {int(draws[chain].argmax())} of chain "
        f"{chain} on, of {names}, though the log density is finite there: a quantity computed from "
        "the unknowns is not a number, such as the logarithm of a negative number or 0/0, and "
        "neither are its averages. Avoid such values by kg.where or another formula."
    )
    return [Advice("nan", count, message)]


def _lost(tree: Any) -> list[Advice]:
    from .check import walkers_of

    lost = lost_chains(tree) if walkers_of(tree) == 1 else {}
    if not lost:
        return []
    each = "; ".join(f"chain {chain} {what}" for chain, what in list(lost.items())[:5])
    more = f"; and {len(lost) - 5} more" if len(lost) > 5 else ""
    message = (
        f"{len(lost)} of {tree['sample_stats'].sizes['chain']} chains are not where the other "
        f"chains are: {each}{more}. The posterior may have several modes or a narrow neck, or such "
        "a chain needs a better start (initial={name: value}, or initial=kg.opt(model)) or a "
        "longer warm-up (warmup=). Leave its draws out only if you know the reason."
    )
    return [Advice("lost_chains", len(lost), message)]


def _acceptance(tree: Any) -> list[Advice]:
    """Acceptance probabilities outside [0, 1], by which steps were tuned."""
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
        f"{int(bad.sum())} of {bad.size} draws have an acceptance_rate that is not a probability "
        f"({worst:.3g}), by which the step size was tuned: every branch of the step should record "
        "one, such as kg.minimum(1.0, kg.exp(-error)), and 0 where that is not a number."
    )
    return [Advice("acceptance", int(bad.sum()), message)]


def _unsolved(tree: Any) -> list[Advice]:
    """Refused proposals: most likely a solver had no solution there."""
    solvers, bad = refused(tree)
    if not bad.any():
        return []
    by_chain = bad.sum(1)
    count, worst = int(by_chain.sum()), int(by_chain.argmax())
    message = (
        f"in {count} of {bad.size} draws ({percent(count, bad.size)}), {int(by_chain[worst])} "
        f"of them in chain {worst}, a proposal was refused because it had no finite log density, "
        f"as at values without a solution by {', '.join(solvers[:3])}. If such values are "
        "possible, they are missing from the draws: give the solver more max_steps, a larger rtol "
        'or, if the equation is stiff, method="rodas5p", and a right-hand side that is finite a '
        "little beyond its domain. If they are impossible, exclude them by priors."
    )
    return [Advice("unsolved", count, message)]


def percent(count: int, size: int) -> str:
    """A share in percent, with two digits below 100 %."""
    share = 100 * count / size
    return f"{share:.0f} %" if share >= 99 else f"{share:.2g} %"


def _divergences(tree: Any) -> list[Advice]:
    stats = tree["sample_stats"].dataset
    flags = [stats[name].values for name in divergences(map(str, stats))]
    diverging = np.logical_or.reduce(flags) if flags else np.zeros((1, 1), bool)
    diverging = diverging & ~refused(tree)[1]  # a refused proposal has no energy
    if not diverging.any():
        return []
    return [_diverged(tree, diverging.sum(1), diverging.size, diverging)]


def _settings(tree: Any) -> dict[str, Any]:
    settings: dict[str, Any] = json.loads(tree.attrs.get("sampler_settings", "{}"))
    return settings


def _smaller_steps(tree: Any) -> str:
    """The advice to take smaller steps, for this sampler."""
    name = tree.attrs.get("sampler", "NUTS")
    target = np.max(_settings(tree).get("target_acceptance", 0.8))
    raised_target = _target_reached(tree)
    stats = tree["sample_stats"].dataset if "sample_stats" in tree else {}
    if (
        stats.get("acceptance_rate") is not None and "step_size" not in stats
    ):  # the step size was not tuned
        return f"a smaller step_size of {name}"
    reached = max(target, raised_target)
    clearly = 1 - CLEARLY * (1 - reached)
    aim = next((aim for aim in (0.95, 0.99) if aim >= clearly), (1 + reached) / 2)
    prefix = "kg.samplers." if name in _OURS else ""
    raised = (
        f" (warm-up raised it to {raised_target:.2g} by itself)" if raised_target > target else ""
    )
    return f"smaller steps: sampler={prefix}{name}(target_acceptance={aim:.4g}){raised}"


def _target_reached(tree: Any) -> float:
    """The largest final target of acceptance; 0 if unknown."""
    state = tree["sampler_state"].dataset if "sampler_state" in tree.children else {}
    targets = state.get("hyper_target_acceptance")
    return 0.0 if targets is None else float(np.max(targets.values))


def _diverged(
    tree: Any, by_chain: np.ndarray, size: int, diverging: np.ndarray | None = None
) -> Advice:
    count, worst = int(by_chain.sum()), int(by_chain.argmax())
    place = place_of(tree, diverging)
    if _settings(tree).get("max_halvings", 0):
        reason = "no step was short enough, as the log density is infinite, jumps or is too curved"
        way_out = (
            "state the bounds of unknowns in their distributions (truncation=, or lower= and "
            "upper= of kg.variable), not by kg.factor or kg.where"
        )
    else:
        reason, way_out = "the step was too long for the curvature", _smaller_steps(tree)
    message = (
        f"{count} of {size} draws ({percent(count, size)}) ended in a "
        f"divergence, {int(by_chain[worst])} of them in chain {worst}: {reason} there, and that "
        f"region may be missing from the draws.{place} {remedy(tree, diverging)} {way_out}."
    )
    return Advice("divergences", count, message)


def diagnose_averages(tree: Any, draws: int) -> list[Advice]:
    """Findings about a run that kept no draws: divergences and averages.

    The run has made `draws` draws of each chain.
    """
    by_chain = tree["sampler_state"]["divergences"].values
    advice = [_diverged(tree, by_chain, by_chain.size * draws)] if by_chain.any() else []
    for name, mean in tree["averages/mean"].data_vars.items():
        bad = ~np.isfinite(mean.values).reshape((mean.shape[0], -1)).all(1)
        if bad.any():
            message = (
                f"the average of {name} is not a finite number in {int(bad.sum())} of {bad.size} "
                "chains: a step that is too long for the target makes a chain grow without bound. "
                "Take a smaller step_size."
            )
            return [*advice, Advice("not_finite", int(bad.sum()), message)]
    return advice


def _depth(tree: Any, others: list[Advice]) -> list[Advice]:
    """Trajectories that were cut off.

    The draws are right unless one of the other findings speaks against it.
    """
    limit = _settings(tree).get("max_depth")
    depth = tree["sample_stats"].dataset.get("tree_depth")
    if limit is None or depth is None:
        return []
    count = int((depth.values >= limit).sum())
    if not count:
        return []
    right = all(each.kind == "ess" for each in others)
    message = (
        f"{count} of {depth.size} draws ({percent(count, depth.size)}) reached the largest "
        f"tree depth, {limit}: the sampler wanted to go further. The draws are "
        f"{'right but ' if right else ''}costly; rescale or reparametrise strongly correlated "
        f"unknowns, or use NUTS(max_depth={limit + 2})."
    )
    return [Advice("tree_depth", count, message)]


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
    known = (float(np.nanmin(s)) for s in sizes.values() if np.isfinite(s).any())
    return min(known, default=math.nan)


def _quantities(count: int) -> str:
    return f"{count} quantit{'y' if count == 1 else 'ies'}"


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
    names = _names(posterior, still, {name: flags.astype(float) for name, flags in still.items()})
    whole = all(draws[name].dtype.kind in "biu" for name, flags in still.items() if flags.any())
    kind = ", as labels of groups that no draw moves to another group" if whole else ""
    return (
        f"{_quantities(count)} ({names}) did not change within any chain, and differ between "
        f"chains{kind}. "
    )


def _convergence(
    tree: Any, draws: dict[str, np.ndarray], walkers: int, found: Set[str]
) -> list[Advice]:
    """Findings on R-hat and effective sample sizes.

    `found` are the kinds of the other findings.
    """
    posterior = tree["posterior"].dataset
    explained = not found.isdisjoint({"not_finite", "nan"})
    chains = posterior.sizes["chain"] // walkers
    rhats, sizes = diagnostics.rhat_and_ess_bulk(draws)
    if walkers > 1:
        together = {name: diagnostics.together(d, walkers) for name, d in draws.items()}
        rhats, _ = diagnostics.rhat_and_ess_bulk(together)
    advice = []
    unknown = {n: np.isnan(s) for n, s in sizes.items()}
    count = sum(int(u.sum()) for u in unknown.values())
    if count and not explained:
        advice.append(
            Advice(
                "unknown",
                count,
                f"R-hat and the effective sample size of {_quantities(count)} are not known "
                f"({_names(posterior, unknown, sizes)}): some draws are infinite, such as the "
                "logarithm of 0, and so are averages of them. Avoid such values by kg.where or "
                "another formula.",
            )
        )
    # A constant element (the diagonal of a correlation matrix) has no R-hat.
    bad = {n: r > RHAT_LIMIT for n, r in rhats.items()}
    count = sum(int(b.sum()) for b in bad.values())
    if count and chains > 1:
        form = "" if "divergences" in found else other_form(tree, {n for n in bad if bad[n].any()})
        largest = max(float(np.nanmax(r)) for r in rhats.values() if not np.isnan(r).all())
        if largest > FAR_APART and walkers == 1 and "tempering" not in tree.attrs:
            unknowns = json.loads(tree.attrs.get("unknowns", "{}"))
            form = modes_text(posterior, {n for n in bad if bad[n].any()}, unknowns) or form
        what = f"R-hat is above {RHAT_LIMIT} for {_quantities(count)} (up to {_above(largest)}: "
        message = (
            f"{what}{_names(posterior, bad, rhats)}): the chains have not mixed. "
            f"{_constant(posterior, draws)}{form}Run longer (draws=, warmup=); "
            "if it stays, reparametrise or look for several modes."
        )
        if walkers == 1 and not form and not found:
            least = _least(sizes)
            length = posterior.sizes["draw"]
            if needed := draws_needed(length, chains, largest, least, RHAT_LIMIT):
                more = f", or {needed - length} more by kg.extra_samples"
                alone = "sampler_state" in tree.children and "refit" not in tree.attrs
                more = more if alone else ""
                message = (
                    f"{what}{_names(posterior, bad, rhats)}), which the effective sample size of "
                    f"{least:.0f} explains. About {needed} draws per chain "
                    f"should bring it below {RHAT_LIMIT}: draws={needed}{more}. If it stays, "
                    "reparametrise or look for several modes."
                )
        advice.append(Advice("rhat", count, message))
    low = {n: s < ESS_PER_CHAIN * chains for n, s in sizes.items()}
    count = sum(int(b.sum()) for b in low.values())
    if count:
        least = _least(sizes)
        worst = {n: 1.0 / s for n, s in sizes.items()}
        advice.append(
            Advice(
                "ess",
                count,
                f"the effective sample size is below {ESS_PER_CHAIN} per chain for "
                f"{_quantities(count)} (down to {least:.0f} in all: "
                f"{_names(posterior, low, worst)}): estimates from them are noisy. Draw more.",
            )
        )
    return advice
