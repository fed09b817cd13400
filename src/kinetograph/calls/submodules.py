"""Submodules of NumPy, SciPy and JAX, as in `kg.linalg.solve`: where their functions are here."""

import dis
from collections.abc import Callable
from importlib import import_module
from typing import Any

from ..graph.numpy.instead import advice
from ..graph.numpy.protocol import is_available
from ..graph.source import user_frame
from ..graph.suggestions import plain
from .elsewhere import ELSEWHERE

__all__ = ["of_submodule"]

# The modules behind a name, in the order in which a function is looked for.
_MODULES = {
    "linalg": ("numpy.linalg", "scipy.linalg"),
    "fft": ("numpy.fft", "scipy.fft"),
    "special": ("scipy.special",),
    "stats": ("scipy.stats",),
    "numpy": ("numpy",),
    "scipy": ("scipy",),
    "np": ("numpy",),
    "jnp": ("numpy",),
    "signal": ("scipy.signal",),
    "integrate": ("scipy.integrate",),
    "interpolate": ("scipy.interpolate",),
    "nn": (),
    "lax": (),
}
_WHOLE = ("numpy", "np", "jnp", "scipy")
_FUNCTIONS = "functions of NumPy and SciPy are kg's own, as kg.solve and kg.erf, or take arrays"


def of_submodule(name: str, names: list[str]) -> str | None:
    """What to say of a submodule that the package does not have; None for other names."""
    if name not in _MODULES:
        return None
    path = [name, *_read_next(name)]
    if path[0] in _WHOLE and len(path) > 1 and path[1] in _MODULES:  # kg.scipy.linalg.solve
        del path[0]
    if len(path) == 1:
        return f"; {_FUNCTIONS}, as np.linalg.norm(x)"
    return f"; {_answer(path[0], path[1], names)}"


def _answer(module: str, name: str, names: list[str]) -> str:
    families = import_module("..distributions.family", __package__).FAMILIES
    if name in names and not (module == "special" and name in families):  # as the function beta
        return f"it is kg.{name}"
    found = [(each, getattr(import_module(each), name, None)) for each in _MODULES[module]]
    for library, function in found:
        if function is not None and _takes_arrays(function):
            return f"{library.replace('numpy', 'np')}.{name} takes arrays"
    told = ELSEWHERE.get(plain(name))
    if told is not None:
        return told
    for library, function in found:
        words = advice(library, name, "x") if function is not None else ""
        if words:
            return f"there is none of this name{words}"
    return "there is none; kg.lift(function) makes an operation of a JAX function"


def _takes_arrays(function: Callable[..., Any]) -> bool:
    try:
        return is_available(function)
    except TypeError:  # what cannot be looked up, as it has no hash
        return False


def _read_next(name: str) -> list[str]:
    """The attributes that the user's line reads of this one: `solve` in `kg.linalg.solve(a, b)`."""
    frame = user_frame()
    if frame is None:
        return []
    steps = [s for s in dis.get_instructions(frame.f_code) if s.offset >= frame.f_lasti]
    found: list[str] = []
    for step in steps[1:] if steps and steps[0].argval == name else ():
        if step.opname not in ("LOAD_ATTR", "LOAD_METHOD", "CACHE"):
            break
        if step.opname != "CACHE":
            found.append(str(step.argval))
    return found
