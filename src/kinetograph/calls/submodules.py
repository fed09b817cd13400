"""Advice on submodules of NumPy, SciPy and JAX, as in `kg.linalg.solve`.

The advice says how the function of the submodule is called in kinetograph.
"""

import dis
from collections.abc import Callable
from importlib import import_module
from typing import Any

from ..graph.numpy.alternatives import advice
from ..graph.numpy.protocol import is_available
from ..graph.source import user_frame
from ..graph.suggestions import plain
from .other_libraries import ELSEWHERE

__all__ = ["of_submodule", "read_next"]

# The modules of a name, in the order in which they are searched for a function.
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
_FUNCTIONS = (
    "functions of NumPy and SciPy are functions of kg, as kg.solve and kg.erf, or take arrays"
)


def of_submodule(name: str, names: list[str]) -> str | None:
    """Advice on a submodule that the package does not have.

    None if the name is not a submodule of NumPy, SciPy or JAX.
    """
    if name not in _MODULES:
        return None
    path = [name, *read_next(name)]
    if path[0] in _WHOLE and len(path) > 1 and path[1] in _MODULES:  # kg.scipy.linalg.solve
        del path[0]
    if len(path) == 1:
        return f"; {_FUNCTIONS}, as np.linalg.norm(x)"
    return f"; {_answer(path[0], path[1], names)}"


def _answer(module: str, name: str, names: list[str]) -> str:
    families = import_module("..distributions.family", __package__).FAMILIES
    # `special.beta` is a function, but `kg.beta` is a distribution.
    if name in names and not (module == "special" and name in families):
        return f"it is kg.{name}"
    functions = [
        (module_name, getattr(import_module(module_name), name, None))
        for module_name in _MODULES[module]
    ]
    for library, function in functions:
        if function is not None and _takes_arrays(function):
            return f"{library.replace('numpy', 'np')}.{name} takes arrays"
    advice_elsewhere = ELSEWHERE.get(plain(name))
    if advice_elsewhere is not None:
        return advice_elsewhere
    for library, function in functions:
        words = advice(library, name, "x") if function is not None else ""
        if words:
            return f"there is no function of this name{words}"
    return "there is no such function; kg.lift(function) makes an operation of a JAX function"


def _takes_arrays(function: Callable[..., Any]) -> bool:
    try:
        return is_available(function)
    except TypeError:  # an object without a hash cannot be looked up
        return False


def read_next(name: str) -> list[str]:
    """The attributes that the user's line reads from this name.

    For the name `linalg` in `kg.linalg.solve(a, b)` they are `["solve"]`.
    """
    frame = user_frame()
    if frame is None:
        return []
    instructions = [s for s in dis.get_instructions(frame.f_code) if s.offset >= frame.f_lasti]
    attributes: list[str] = []
    for instruction in instructions[1:] if instructions and instructions[0].argval == name else ():
        if instruction.opname not in ("LOAD_ATTR", "LOAD_METHOD", "CACHE"):
            break
        if instruction.opname != "CACHE":
            attributes.append(str(instruction.argval))
    return attributes
