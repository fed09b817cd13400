"""Findings on transitions: divergences, refused proposals, lost chains and more."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..samplers import __all__ as _OURS
from ..samplers.acceptance import divergences
from .advice import Advice, percent, worst_names
from .check import statistics_of
from .divergence_places import place_of
from .lost_chains import lost_chains
from .nan_draws import nan_draws
from .refused_proposals import refused
from .reparametrisation import remedy

__all__ = ["depth_findings", "divergence_finding", "refusal_findings", "transition_findings"]

CLEARLY = 0.6  # an advised target of acceptance is at most this far from 1, relative to now


def transition_findings(tree: Any) -> list[Advice]:
    """All findings on transitions, except the depth of trees."""
    return (
        _not_finite(tree)
        + _no_numbers(tree)
        + _lost_chains(tree)
        + _acceptance(tree)
        + refusal_findings(tree)
        + _divergences(tree)
    )


def _not_finite(tree: Any) -> list[Advice]:
    """Draws whose log density is not finite.

    For example after a step that was too long.
    """
    recorded = statistics_of(tree)
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
    names = worst_names(tree["posterior"].dataset, {n: s > 0 for n, s in shares.items()}, shares)
    message = (
        f"NaN in {count} of {draws.size} draws, from draw {int(draws[chain].argmax())} of chain "
        f"{chain} on, of {names}, though the log density is finite there: a quantity computed from "
        "the unknowns is not a number, such as the logarithm of a negative number or 0/0, and "
        "neither are its averages. Avoid such values by kg.where or another formula."
    )
    return [Advice("nan", count, message)]


def _lost_chains(tree: Any) -> list[Advice]:
    from .check import walkers_of

    problems = lost_chains(tree) if walkers_of(tree) == 1 else {}
    if not problems:
        return []
    each = "; ".join(f"chain {chain} {text}" for chain, text in list(problems.items())[:5])
    more = f"; and {len(problems) - 5} more" if len(problems) > 5 else ""
    message = (
        f"{len(problems)} of {tree['sample_stats'].sizes['chain']} chains are not where the other "
        f"chains are: {each}{more}. The posterior may have several modes or a narrow neck, or such "
        "a chain needs a better start (initial={name: value}, or initial=kg.opt(model)) or a "
        "longer warm-up (warmup=). Leave its draws out only if you know the reason."
    )
    return [Advice("lost_chains", len(problems), message)]


def _acceptance(tree: Any) -> list[Advice]:
    """Acceptance probabilities outside [0, 1], by which steps were tuned."""
    recorded = statistics_of(tree)
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


def refusal_findings(tree: Any) -> list[Advice]:
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


def _divergences(tree: Any) -> list[Advice]:
    stats = statistics_of(tree)
    flags = [stats[name].values for name in divergences(map(str, stats))]
    diverging = np.logical_or.reduce(flags) if flags else np.zeros((1, 1), bool)
    diverging = diverging & ~refused(tree)[1]  # a refused proposal has no energy
    if not diverging.any():
        return []
    return [divergence_finding(tree, diverging.sum(1), diverging.size, diverging)]


def divergence_finding(
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


def _smaller_steps(tree: Any) -> str:
    """The advice to take smaller steps, for this sampler."""
    name = tree.attrs.get("sampler", "NUTS")
    target = np.max(_settings(tree).get("target_acceptance", 0.8))
    raised_target = _target_reached(tree)
    stats = statistics_of(tree)
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


def _settings(tree: Any) -> dict[str, Any]:
    settings: dict[str, Any] = json.loads(tree.attrs.get("sampler_settings", "{}"))
    return settings


def depth_findings(tree: Any, findings: Sequence[Advice]) -> list[Advice]:
    """Trajectories that were cut off.

    The draws are right unless one of the other findings speaks against it.
    """
    limit = _settings(tree).get("max_depth")
    depth = statistics_of(tree).get("tree_depth")
    if limit is None or depth is None:
        return []
    count = int((depth.values >= limit).sum())
    if not count:
        return []
    right = all(each.kind in ("ess", "ess_tail") for each in findings)
    message = (
        f"{count} of {depth.size} draws ({percent(count, depth.size)}) reached the largest "
        f"tree depth, {limit}: the sampler wanted to go further. The draws are "
        f"{'right but ' if right else ''}costly; rescale or reparametrise strongly correlated "
        f"unknowns, or use NUTS(max_depth={limit + 2})."
    )
    return [Advice("tree_depth", count, message)]
