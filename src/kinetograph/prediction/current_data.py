"""Results whose data groups hold the current data of the model."""

from typing import Any

from ..distributions.variable import Variable
from ..models.model import Model
from ..models.result_groups import as_group
from .recorded_draws import DATA_GROUPS, is_same, is_stale, recorded_data

__all__ = ["with_current_data"]

COMPUTED_GROUPS = ("posterior_predictive", "log_likelihood")  # groups computed from the data


def with_current_data(model: Model, results: Any) -> Any:
    """A copy of results whose data groups hold the model's current data.

    The given results are not changed. If the data have not changed, the results are returned as
    they are. Otherwise targets and predictions that were computed from the old data are left out,
    because they do not belong to the new data.
    """
    import xarray as xr

    from ..models.results_tree import DataTree

    groups = {name: results[name].dataset for name in DATA_GROUPS if name in results}
    recorded = recorded_data(results)
    current = {model.name(node): node for node in model.data if model.name(node) in recorded}
    if all(is_same(recorded[name].values, model.value_of(node)) for name, node in current.items()):
        return results
    targets = (node for node in model.targets if not isinstance(node, Variable))
    stale = [model.name(node) for node in targets if is_stale(model, node, results)]
    tree = results.copy()
    for name, group in groups.items():
        nodes = {n: (node, model.value_of(node)) for n, node in current.items() if n in group}
        unchanged = group.drop_vars(list(nodes)).drop_dims(_dims(group, nodes), errors="ignore")
        tree[name] = DataTree(xr.merge([as_group(model, nodes), unchanged], compat="override"))
        tree[name].attrs.update(group.attrs)
    posterior = results["posterior"].dataset
    tree["posterior"] = DataTree(posterior.drop_vars(stale, errors="ignore"))
    for name in COMPUTED_GROUPS:
        if name in tree:
            del tree[name]
    return tree


def _dims(group: Any, names: Any) -> list[str]:
    """Dimensions that only the named variables use: their lengths may have changed."""
    used_dims = {dim for name in names for dim in group[name].dims}
    return [
        dim
        for dim in used_dims
        if all(dim not in v.dims for n, v in group.items() if n not in names)
    ]
