"""Parameters or momenta of walkers, an array with rows to set."""

from typing import Any, Protocol

import numpy as np

from .parameters import ParameterLayout

__all__ = ["WalkerVectors", "carried"]


class _Owner(Protocol):
    """A simulation."""

    def get_options(self, name: str | None = None) -> Any:
        """The value of an option."""

    def _get(self, name: str) -> np.ndarray: ...

    def _set(self, name: str, values: Any) -> None: ...


class WalkerVectors(np.lib.mixins.NDArrayOperatorsMixin):
    """Vectors of walkers: an array in formulas, rows by index.

    An array has the shape (N,) for one walker and (walkers, N) for several, or always with the
    option `always_list`. Index i is walker i, also if there is one walker: `[0]` are its N numbers.
    Other attributes and methods are NumPy's, of an array that cannot be written.
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
        if settings.get("out") == (self,):  # as in simulation.parameters += 1
            self._owner._set(self._name, getattr(ufunc, method)(*arrays))
            return self
        return getattr(ufunc, method)(*arrays, **settings)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        values = np.asarray(self)
        values.flags.writeable = False
        return getattr(values, name)

    def __getitem__(self, walker: int) -> np.ndarray:
        values = np.array(self._owner._get(self._name)[walker])
        values.flags.writeable = False
        return values

    def __setitem__(self, walker: int, value: Any) -> None:
        values = np.array(self._owner._get(self._name))
        if np.shape(value) != values[walker].shape:
            got = f"shape {np.shape(value)}" if np.ndim(value) else f"one number, {value!r:.40}"
            raise ValueError(
                f"{self._name}[{walker!r}] are the numbers of a walker: expected "
                f"{values.shape[1]} numbers, got {got}; to change one number, write w = "
                f"np.array(simulation.{self._name}), change w, and set simulation.{self._name} = w"
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


def carried(
    vectors: np.ndarray, before: ParameterLayout, now: ParameterLayout
) -> np.ndarray | None:
    """The vectors of an earlier layout as vectors of a layout.

    Both have the shape (walkers, free numbers). Numbers that were fixed begin at the values at
    which they were fixed. None if the layouts have different arrays.
    """
    if before.shapes != now.shapes:
        return None
    whole = np.zeros((len(vectors), now.size), vectors.dtype)
    if before.fixed is not None:
        whole[:] = np.nan_to_num(before.fixed)
    whole[:, before.free] = vectors
    return whole[:, now.free]
