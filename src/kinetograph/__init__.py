"""Probabilistic models and samplers as ordinary Python, compiled and differentiated exactly."""

import builtins as _builtins
import typing as _typing
from importlib import import_module as _import_module

from .version import __version__

if _typing.TYPE_CHECKING:  # some type checkers do not follow nested star imports
    from .distributions import *  # noqa: F403
    from .graph.functions.arranging import *  # noqa: F403
    from .graph.functions.mathematics import *  # noqa: F403
    from .graph.functions.matrices import *  # noqa: F403
    from .graph.functions.reductions import *  # noqa: F403
    from .graph.functions.special import *  # noqa: F403
    from .public import *  # noqa: F403
    from .public import __all__
else:
    # JAX and the modules that need it are imported when the first public name is used, so that the
    # command starts quickly where it needs no model.
    def __getattr__(name):
        if name == "__all__" or not name.startswith("_"):
            public, names = _import_module(".public", __name__), globals()
            if "__all__" not in names:
                names.update({k: v for k, v in vars(public).items() if k in public.__all__})
                # A star import leaves Python's own functions as they are: `range`, `sum`, ...
                names["__all__"] = [n for n in public.__all__ if not hasattr(_builtins, n)]
            if name in names:  # an inner package is there once it has been imported
                return names[name]
            if name in public.__all__:
                return getattr(public, name)
            raise _import_module(".calls.name_errors", __name__).no_attribute(
                __name__, name, public.__all__
            )
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__():
        __getattr__("__all__")  # imports the public names
        names = _import_module(".public", __name__).__all__
        return sorted({*names, *(n for n in globals() if n.startswith("__"))})
