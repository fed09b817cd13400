"""Code that is never converted: Python's library, well-known libraries, generators."""

import inspect
import sys

__all__ = ["GENERATORS", "is_library"]

# The flags of code that makes a generator or a coroutine.
GENERATORS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR

_SCIENCE = ("numpy", "scipy", "jax", "jaxlib", "pandas", "xarray", "matplotlib", "optax", "sklearn")
_ARVIZ = ("arviz", "arviz_base", "arviz_stats", "arviz_plots")
_TOOLS = ("rich", "click", "pytest", "_pytest", "pluggy", "hypothesis", "IPython", "ipykernel")
_LIBRARIES = {*_SCIENCE, *_ARVIZ, *_TOOLS, "kinetograph", *sys.stdlib_module_names}
_ROOTS = frozenset(_LIBRARIES - {"__main__"})


def is_library(module: object) -> bool:
    """Whether a module name belongs to Python or to a known library.

    Types of functions that Cython compiled are in a module `_cython_3_1_0`.
    """
    if not isinstance(module, str):
        return False
    root = module.partition(".")[0]
    return root in _ROOTS or root.startswith("_cython_")
