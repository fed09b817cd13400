"""The types of results for type checkers."""

from typing import TYPE_CHECKING, Any

__all__ = ["DataTree", "Results"]

if TYPE_CHECKING:
    import xarray

    from .results_tree import DataTree as DataTree

    Results = xarray.DataTree  # may have been read by xarray itself
else:  # at run time, to avoid importing xarray, which takes time
    DataTree = Results = Any
