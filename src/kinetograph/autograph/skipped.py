"""Modules whose functions are called as they are: Python's own and well-known libraries."""

import sys

__all__ = ["is_library"]

_LIBRARIES = (
    "numpy scipy jax jaxlib pandas xarray matplotlib arviz arviz_base arviz_stats arviz_plots optax "
    "rich click pytest _pytest hypothesis pluggy IPython ipykernel kinetograph"
)
_ROOTS = frozenset([*_LIBRARIES.split(), *sys.stdlib_module_names]) - {"__main__"}


def is_library(module: object) -> bool:
    """Whether a module of this name belongs to Python or a library."""
    return isinstance(module, str) and module.partition(".")[0] in _ROOTS
