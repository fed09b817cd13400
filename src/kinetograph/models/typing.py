"""What results are to type checkers."""

from typing import TYPE_CHECKING, Any

__all__ = ["DataTree", "Results"]

if TYPE_CHECKING:
    import xarray

    from .tree import DataTree as DataTree

    Results = xarray.DataTree  # that may have been read by xarray
else:  # for who asks at run time: importing xarray takes time
    DataTree = Results = Any
