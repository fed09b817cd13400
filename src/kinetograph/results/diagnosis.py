"""Warnings about a finished run, with counts, meaning and remedies.

Each finding is a typed record, so that programs can match on its kind. `kg.mcmc` issues the
findings as Python warnings of the class `SamplingWarning`.
"""

from typing import Any

import numpy as np

from ..graph.public import public
from .advice import Advice
from .chosen_forms import chosen_forms, chosen_precisions, chosen_tails, forms_text
from .convergence import convergence
from .still_chains import still_chains
from .transitions import depth_findings, divergence_finding, refusal_findings, transition_findings

__all__ = ["LOOKED_AT", "diagnose", "diagnose_averages", "findings"]

LOOKED_AT = 10_000  # draws of a chain that are examined after a run


@public
def diagnose(tree: Any, *, forms: bool = False) -> list[Advice]:
    """Findings about a run: lost chains, divergences, R-hat, sample sizes and more.

    If no chain moves, this is the only finding about draws. A chain is lost if it does not move
    while the other chains do, or if its log density is far below the other chains'. Saturated trees
    are counted, and, if the model has a solver, proposals without a solution.

    R-hat should be at most 1.01, and the effective sample sizes of the bulk and of the tails at
    least 100 for each chain. The walkers of an ensemble are one chain here.

    Parameters
    ----------
    tree
        Results of `kg.mcmc`.
    forms
        Also tell the coordinates of unknowns that warm-up has chosen: an entry of the kind
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
    chosen += [c for c in chosen_tails(tree).values() if np.any(c < 1)] if forms else []
    legend = " (c = 1: centred, 0: non-centred)" if chosen_forms(tree) else ""
    text = f"warm-up chose these forms{legend}: {forms_text(tree)}"
    about_forms = [Advice("forms", sum(values.shape[1] for values in chosen), text)]
    return (about_forms if chosen else []) + findings(tree)


def findings(tree: Any, most: int | None = None) -> list[Advice]:
    """The findings of `diagnose`, from a bounded number of draws.

    R-hat and effective sample sizes are computed from at most `most` draws of each chain, at equal
    distances. For a million numbers they would take longer than the draws, and a part of the draws
    shows problems as well.
    """
    if still := still_chains(tree):
        return [Advice("still", tree["posterior"].sizes["chain"], still), *refusal_findings(tree)]
    advice = transition_findings(tree)
    kinds = {each.kind for each in advice + depth_findings(tree, [])}
    about_convergence = convergence(tree, most, kinds)
    return advice + depth_findings(tree, advice + about_convergence) + about_convergence


def diagnose_averages(tree: Any, draws: int) -> list[Advice]:
    """Findings about a run that kept no draws: divergences and averages.

    The run has made `draws` draws of each chain.
    """
    by_chain = tree["sampler_state"]["divergences"].values
    advice = [divergence_finding(tree, by_chain, by_chain.size * draws)] if by_chain.any() else []
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
