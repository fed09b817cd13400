"""What results are to type checkers."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import xarray

    class DataTree(xarray.DataTree):
        """xarray says only of an item that it is a table or an array."""

        def __getitem__(self, key: str) -> Any: ...


__all__: list[str] = []
