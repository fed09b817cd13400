"""Results trees: `xarray.DataTree` with better messages for missing names.

It is a separate module because importing xarray takes time; it is imported when results are made.
"""

import sys
from collections.abc import ItemsView, Mapping
from typing import TYPE_CHECKING, Any, Literal, overload

import xarray

from ..graph.array import Array
from ..graph.messages import describe
from ..graph.source import place_text
from ..graph.suggestions import did_you_mean, elsewhere, refuse_assignment

__all__ = ["DataTree", "answering", "tree_of"]

type GroupName = Literal[
    "averages",
    "constant_data",
    "log_likelihood",
    "log_prior",
    "observed_data",
    "posterior",
    "posterior_predictive",
    "predictions",
    "predictions_constant_data",
    "prior",
    "prior_predictive",
    "sample_stats",
    "sampler_state",
    "unknowns",
    "warmup_posterior",
    "warmup_sample_stats",
]
# The call that adds a group to results.
_MADE_BY = {
    "log_likelihood": "kg.log_likelihood(model, results)",
    "log_prior": "kg.log_prior(model, results)",
    "posterior_predictive": "kg.predict(model, results)",
    "predictions": "kg.predict(model, results, name=array)",
    "prior": "results.update(kg.simulate(model))",
    "prior_predictive": "results.update(kg.simulate(model))",
    "warmup_posterior": "kg.mcmc(model, keep_warmup=True)",
    "warmup_sample_stats": "kg.mcmc(model, keep_warmup=True)",
}
_SHOWN = 12  # greatest number of names in a message


class DataTree(xarray.DataTree):
    """An `xarray.DataTree` whose errors list the names that it has."""

    __slots__ = ()
    _instead = "use results.assign(name=values), or results[group] = dataset for a group"

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_"):
            refuse_assignment(self, name, sys._getframe(1).f_code.co_filename)
        super().__setattr__(name, value)

    if TYPE_CHECKING:
        averages: "ResultsGroup"
        constant_data: "ResultsGroup"
        log_likelihood: "ResultsGroup"
        log_prior: "ResultsGroup"
        observed_data: "ResultsGroup"
        posterior: "ResultsGroup"
        posterior_predictive: "ResultsGroup"
        predictions: "ResultsGroup"
        prior: "ResultsGroup"
        prior_predictive: "ResultsGroup"
        sample_stats: "ResultsGroup"
        unknowns: "ResultsGroup"

    @overload
    def __getitem__(self, key: GroupName) -> "ResultsGroup": ...
    @overload
    def __getitem__(self, key: str) -> Any: ...
    @overload
    def __getitem__(self, key: list[str]) -> xarray.Dataset: ...
    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, (list, tuple)):
            return self._several([*key])
        if isinstance(key, Array):
            raise TypeError(self._text_of_array(describe(key.node)))
        try:
            return super().__getitem__(key)
        except KeyError:
            raise KeyError(self._missing_text(key, is_key=True)) from None

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            if name.startswith("_"):
                raise
            raise AttributeError(self._missing_text(name), name=name) from None

    def _several(self, names: list[Any]) -> xarray.Dataset:
        """The dataset of some of the variables; raises KeyError for other names."""
        for name in names:
            if self.parent is None and name in self.children:
                raise KeyError(
                    f"{names!r}: a list selects variables of one group{place_text()}; write "
                    f"results[{name!r}], or results[{name!r}][['mu', ...]]"
                )
            if name not in self.variables:
                raise KeyError(self._missing_text(name, is_key=True))
        return self.to_dataset()[names]

    def _text_of_array(self, name: str) -> str:
        """The message for an array in place of a name."""
        groups: dict[Any, Any] = {self.name: self, **self.root.children}
        group = next((g for g, node in groups.items() if name in node.variables), None)
        way_out = f"kg.calculate({name}, values=results)"
        if group is not None:
            way_out = f"results[{group!r}][{name!r}]"
        return f"results are by name, got the array {name}{place_text()}; write {way_out}"

    def _missing_text(self, key: Any, is_key: bool = False) -> str:
        """The message for a name that is not in the tree.

        `is_key` excludes advice on attributes: a key such as "gamma" means a variable.
        """
        names = [str(name) for name in (*self.children, *self.variables)]
        within = [group for group, node in self.children.items() if key in node.variables]
        hint = self._elsewhere(key, is_key) if isinstance(key, str) else ""
        hint = hint or did_you_mean(key, names)
        if within:
            hint = f"; it is in the group {within[0]}: results[{within[0]!r}][{key!r}]"
        elif self.parent is not None and (other := _sibling_with(self, key)):
            hint = f"; it is in the group {other}: results[{other!r}][{key!r}]"
        elif not hint and self.parent is not None and key in self.parent.children:
            hint = "; it is a group of the whole results"
        listed = ", ".join(names[:_SHOWN]) + (", ..." if len(names) > _SHOWN else "")
        where = "the results" if self.parent is None else f"the group {self.name}"
        return (
            f"{key!r} is not in {where}{place_text()}; {self._holds_text()} "
            f"{listed or 'nothing'}{hint}"
        )

    def _elsewhere(self, key: str, is_key: bool) -> str:
        """Advice on an attribute of xarray's datasets, or of other libraries' results."""
        if self.parent is None and key in _MADE_BY:
            return f"; {_MADE_BY[key]} adds it"
        if is_key:
            return ""
        if hasattr(xarray.Dataset, key) and not self.children:
            return f"; a dataset has it: results[{self.name!r}].to_dataset().{key}(...)"
        if hasattr(xarray.Dataset, key) and "posterior" in self.children:
            return f"; a dataset has it: results['posterior'].to_dataset().{key}(...)"
        return elsewhere("DataTree", key)

    def _holds_text(self) -> str:
        return "it holds" if self.parent is not None else "they hold"


if TYPE_CHECKING:

    class ResultsGroup(DataTree):
        """A group of results: a `DataTree` whose keys are names of variables."""

        def __getitem__(self, key: str) -> xarray.DataArray: ...  # type: ignore[override]
        def items(self) -> ItemsView[str, xarray.DataArray]: ...  # type: ignore[override]
        @property
        def data_vars(self) -> Mapping[str, xarray.DataArray]: ...  # type: ignore[override]


def _sibling_with(group: Any, key: Any) -> str | None:
    """The other group that holds draws of `key`, if any."""
    for name in ("posterior", "unknowns", "sample_stats"):
        other = group.parent.children.get(name)
        if other is not None and other is not group and key in other.variables:
            return str(name)
    return None


def tree_of(groups: Mapping[str, Any], whole: Any = None) -> DataTree:
    """A results tree of datasets or trees by group name.

    `whole` is the dataset of the root.
    """
    children = {
        name: part if isinstance(part, DataTree) else DataTree(part)
        for name, part in groups.items()
    }
    return DataTree(whole, children)


def answering(tree: xarray.DataTree) -> DataTree:
    """A tree of xarray as a `DataTree`, without loading its data."""
    dataset = tree.to_dataset(inherit=False)
    converted = DataTree(dataset, {name: answering(child) for name, child in tree.children.items()})
    converted.encoding = dict(tree.encoding)
    converted.set_close(tree.close)
    return converted
