"""Modules whose functions are called as they are: Python's own and well-known libraries."""

import sys

__all__ = ["is_library"]

_SCIENCE = ("numpy", "scipy", "jax", "jaxlib", "pandas", "xarray", "matplotlib", "optax")
_ARVIZ = ("arviz", "arviz_base", "arviz_stats", "arviz_plots")
_TOOLS = ("rich", "click", "pytest", "_pytest", "pluggy", "hypothesis", "IPython", "ipykernel")
_LIBRARIES = {*_SCIENCE, *_ARVIZ, *_TOOLS, "kinetograph", *sys.stdlib_module_names}
_ROOTS = frozenset(_LIBRARIES - {"__main__"})


def is_library(module: object) -> bool:
    """Whether a module of this name belongs to Python or a library."""
    return isinstance(module, str) and module.partition(".")[0] in _ROOTS
