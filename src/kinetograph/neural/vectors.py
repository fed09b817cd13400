"""Parameters or momenta of walkers, an array with rows to set."""

from typing import Any, Protocol

import numpy as np

__all__ = ["WalkerVectors"]


class _Owner(Protocol):
    """A simulation."""

    def get_options(self, name: str | None = None) -> Any:
        """The value of an option."""

    def _get(self, name: str) -> np.ndarray: ...

    def _set(self, name: str, values: Any) -> None: ...


class WalkerVectors(np.lib.mixins.NDArrayOperatorsMixin):
    """Vectors of walkers: an array in formulas, rows by index.

    An array has the shape (N,) for one walker and (walkers, N) for several, or always with the
    option `always_list`.
    """

    def __init__(self, owner: Any, name: str) -> None:
        self._owner: _Owner = owner
        self._name = name

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        values = self._owner._get(self._name)
        if len(values) == 1 and not self._owner.get_options("always_list"):
            values = values[0]
        return np.array(values, dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **settings: Any) -> Any:
        """The result of a function of NumPy on the array."""
        arrays = [np.asarray(x) if isinstance(x, WalkerVectors) else x for x in inputs]
        return getattr(ufunc, method)(*arrays, **settings)

    def __getitem__(self, walker: int) -> np.ndarray:
        return np.array(self._owner._get(self._name)[walker])

    def __setitem__(self, walker: int, value: Any) -> None:
        values = np.array(self._owner._get(self._name))
        if np.shape(value) not in (values[walker].shape, ()):
            raise ValueError(
                f"{self._name}[{walker}]: expected {values.shape[1]} numbers, got shape "
                f"{np.shape(value)}"
            )
        values[walker] = value
        self._owner._set(self._name, values)

    def __len__(self) -> int:
        return len(self._owner._get(self._name))

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array."""
        return np.asarray(self).shape

    def __repr__(self) -> str:
        return repr(np.asarray(self))
