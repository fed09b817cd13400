"""The working precision of floating-point numbers, without JAX's global flags.

JAX computes in float32 unless a process-wide flag is set. kinetograph opens JAX's thread-local
64-bit scope only around its own tracing and calls, so that other code in the process is not
affected.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar

import jax
import numpy as np

from .fork_guard import require_threads
from .public import public

__all__ = ["FLOAT32", "FLOAT64", "common_dtype", "float_dtype", "precision", "x64"]

FLOAT64 = np.dtype(np.float64)
FLOAT32 = np.dtype(np.float32)
_FLOAT: ContextVar[np.dtype] = ContextVar("kinetograph_float", default=FLOAT64)


def x64() -> AbstractContextManager[None]:
    """Open a scope in which JAX keeps 64-bit types.

    It is needed around every trace and every call of a compiled program.
    """
    require_threads()
    return jax.enable_x64(True)


def float_dtype() -> np.dtype:
    """The floating-point type of new arrays: float64, unless `kg.precision` changes it."""
    return _FLOAT.get()


def common_dtype(*dtypes: np.dtype) -> np.dtype:
    """The common type by NumPy's rules; float64 becomes the working precision."""
    dtype = np.result_type(*set(dtypes))
    return float_dtype() if dtype == FLOAT64 else dtype


@public
@contextmanager
def precision(name: str) -> Iterator[None]:
    """Build arrays in the given floating-point precision inside a `with` block.

    Parameters
    ----------
    name
        `"float32"` or `"float64"` (the default outside of any block).

    Raises
    ------
    ValueError
        If the name is not one of these.

    Examples
    --------
    >>> import kinetograph as kg
    >>> with kg.precision("float32"):
    ...     x = kg.normal(0, 1)
    >>> x.dtype
    dtype('float32')
    """
    if name not in ("float32", "float64"):
        raise ValueError(f"precision is {name!r}; choose 'float32' or 'float64'")
    token = _FLOAT.set(np.dtype(name))
    try:
        yield
    finally:
        _FLOAT.reset(token)
