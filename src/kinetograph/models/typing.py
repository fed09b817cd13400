"""What results are to type checkers."""

from typing import TYPE_CHECKING, Any

__all__ = ["DataTree", "Results"]

if TYPE_CHECKING:
    import xarray

    class DataTree(xarray.DataTree):
        """xarray says only of an item that it is a table or an array."""

        def __getitem__(self, key: str) -> Any: ...

    Results = xarray.DataTree  # that may have been read by xarray
else:  # for who asks at run time: importing xarray takes time
    DataTree = Results = Any
