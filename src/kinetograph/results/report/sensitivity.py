"""The sensitivity of a posterior to prior and data, by power scaling.

    p_a(x | y)  is proportional to  p(x)^a p(y | x)     (the prior is scaled by a; a = 1 is the run)

The sensitivity is the change of a marginal posterior with log2 a at a = 1, as the square root of
the cumulative Jensen-Shannon divergence, by importance weights. Priors of unknowns whose
distributions have unknown parameters are not scaled: they belong to the model as the likelihood
does.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..summary import row_names
from .page import cells, note
from .selection import Selection

__all__ = ["sensitivity"]

CLEAR = 0.05  # Kallioinen et al. (2024), section 2.4: a sensitivity from which the posterior moves
MOST = 200  # the largest number of quantities that are examined


def sensitivity(selection: Selection) -> str:
    """The table of sensitivities, or a remark that says what it needs."""
    tree = selection.whole
    needed = {"log_prior", "log_likelihood"}
    if not needed <= set(tree.children):
        return note(
            "Not computed: the results have no log densities of priors and data. "
            "kg.report(kg.log_prior(model, kg.log_likelihood(model, results))) has them."
        )
    try:
        import arviz_stats
    except ModuleNotFoundError:
        return note("Not computed: it needs arviz-stats (pip install 'kinetograph[compare]').")
    top = [
        str(name)
        for name, prior in tree["log_prior"].dataset.items()
        if not prior.attrs.get("hierarchical", 0)
    ]
    tree = _thinned(tree, selection.every)
    names = _examined(tree["posterior"].dataset)
    if not top or not names:
        return note("Not computed: no real unknown has a prior with known parameters.")
    with np.errstate(all="ignore"):
        each = [
            arviz_stats.psense(tree, var_names=names, group=group, group_var_names=of)
            for group, of in (("prior", top), ("likelihood", None))
        ]
    scaled = "the priors of " + ", ".join(top[:10]) + (" and others" if len(top) > 10 else "")
    lead = note(
        f"The change of each marginal posterior if {scaled}, or the likelihood of all data, are "
        f"raised to a power close to 1. A value from {CLEAR} on is a clear change."
    )
    lines = list(_lines(tree["posterior"].dataset, names, *each))
    return "\n".join([lead, cells(("", "prior", "likelihood", ""), lines)])


def _thinned(tree: Any, every: int) -> Any:
    """The groups that are needed, with every n-th draw."""
    import xarray as xr

    groups = ("posterior", "log_prior", "log_likelihood")
    thinned = {name: tree[name].dataset.isel(draw=slice(None, None, every)) for name in groups}
    return xr.DataTree.from_dict(thinned)


def _examined(posterior: Any) -> list[str]:
    """Real variables of the posterior, without variables that are too large."""
    sizes = {str(n): v.size for n, v in posterior.items() if v.dtype.kind == "f" and v.size}
    draws = posterior.sizes["chain"] * posterior.sizes["draw"]
    names, room = [], MOST * draws
    for name, size in sorted(sizes.items(), key=lambda item: item[1]):
        if size <= room:
            names.append(name)
            room -= size
    return [str(n) for n in posterior if n in names]


def _lines(posterior: Any, names: list[str], prior: Any, data: Any) -> Iterator[tuple[str, ...]]:
    """A row of the table for each number of the variables."""
    for name in names:
        pairs = zip(np.ravel(prior[name].values), np.ravel(data[name].values), strict=True)
        for row, (by_prior, by_data) in zip(row_names(name, posterior[name]), pairs, strict=True):
            numbers = (f"{by_prior:.3f}", f"{by_data:.3f}")
            yield row, *numbers, _meaning(by_prior, by_data)


def _meaning(by_prior: float, by_data: float) -> str:
    """The meaning of two sensitivities."""
    if by_prior < CLEAR or np.isnan(by_prior):
        return ""
    if by_data < CLEAR:
        return "the prior matters: the data say little, or only through effects of groups"
    return "prior and data may disagree"
