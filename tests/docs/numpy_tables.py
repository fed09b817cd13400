"""The tables of `docs/numpy.md`: which functions of NumPy and SciPy take arrays of a graph.

python -m tests.docs.numpy_tables      writes them anew
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import scipy
import scipy.special
from tests.docs.pages import ROOT

from kinetograph.graph.numpy.instead import OF_NUMBERS, ROWS, THROUGH
from kinetograph.graph.numpy.protocol import is_available

__all__ = ["MODULES", "PAGE", "REFUSED", "TYPES", "Different", "functions", "kind", "written"]

PAGE = ROOT / "docs" / "numpy.md"
MODULES: dict[str, ModuleType] = {
    "numpy": np,
    "numpy.linalg": np.linalg,
    "numpy.fft": np.fft,
    "scipy.special": scipy.special,
}
REFUSED = {(row.module, name): row for row in ROWS for name in row.names.split()}
BEGIN, END = "<!-- tables of the code -->\n", "<!-- end of tables -->\n"


class Different(NamedTuple):
    """A rule by which results have another type than those of NumPy and SciPy."""

    operands: str
    functions: str
    theirs: str
    ours: str
    covers: Callable[[str, tuple[np.dtype, ...], str, str], bool]
    """Whether it is the reason for a difference: name, operands' types, their type and ours."""


def _is_small(dtype: np.dtype) -> bool:
    return dtype.kind in "biu" and dtype.itemsize < 4


def _is_half(dtype: np.dtype) -> bool:
    return dtype == np.float16


TYPES = [
    Different(
        "booleans and integers of 8 or 16 bits, alone or with `float16` and `float32`",
        "functions with real results: `np.sqrt`, `np.arctan2`, `scipy.special.gamma`, ...",
        "`float16` or `float32`",
        "the working precision, `float64`",
        lambda name, operands, theirs, ours: (
            any(map(_is_small, operands)) and theirs in ("float16", "float32") and ours == "float64"
        ),
    ),
    Different(
        "`float16`",
        "`np.i0`, `np.sinc`, `np.linalg.norm`",
        "`float16`",
        "`float32`",
        lambda name, operands, theirs, ours: (
            name in ("i0", "sinc", "norm") and all(map(_is_half, operands)) and ours == "float32"
        ),
    ),
    Different(
        "`float16`",
        "`scipy.special.logit`",
        "`float64`",
        "`float32`",
        lambda name, operands, theirs, ours: name == "logit" and all(map(_is_half, operands)),
    ),
    Different(
        "`float16` and `float32`",
        "`np.cov`, `np.corrcoef`",
        "`float64`",
        "the type of the operands",
        lambda name, operands, theirs, ours: name in ("cov", "corrcoef") and theirs == "float64",
    ),
    Different(
        "booleans",
        "`x ** 2`",
        "`int8`",
        "`int64`",
        lambda name, operands, theirs, ours: name == "square by **" and theirs == "int8",
    ),
    Different(
        "booleans",
        "`np.polyval`",
        "`bool`",
        "`int64`",
        lambda name, operands, theirs, ours: name == "polyval" and theirs == "bool",
    ),
    Different(
        "booleans",
        "`np.round` to a number of decimals, `np.quantile`, `np.gradient`",
        "refused",
        "the working precision, `float64`",
        lambda name, operands, theirs, ours: theirs == "refused" and operands[0].kind == "b",
    ),
]


def functions(module: str) -> dict[str, Any]:
    """The public functions of a module."""
    public = ((name, getattr(MODULES[module], name)) for name in MODULES[module].__all__)
    return {
        name: value
        for name, value in sorted(public)
        if callable(value) and not isinstance(value, type)
    }


def kind(module: str, name: str) -> set[str]:
    """Whether a function is available, refused, or one that is of known numbers; in one way."""
    function = functions(module)[name]
    dispatched = isinstance(function, np.ufunc) or hasattr(function, "_implementation")
    known = not dispatched and (module != "scipy.special" or name in OF_NUMBERS.split())
    through = module == "scipy.special" and name in THROUGH
    found = {
        "available": (dispatched and is_available(function)) or through,
        "refused": (module, name) in REFUSED,
        "known": known,
    }
    return {way for way, is_so in found.items() if is_so}


def _available() -> str:
    text = "| module | functions |\n|---|---|\n"
    for module in MODULES:
        names = (f"`{name}`" for name in functions(module) if kind(module, name) == {"available"})
        text += f"| `{module}` | {', '.join(names)} |\n"
    return text


def _refused() -> str:
    text = "| not available | because | instead |\n|---|---|---|\n"
    for row in ROWS:
        short = row.module.replace("numpy", "np")
        names = [name for name in row.names.split() if hasattr(MODULES[row.module], name)]
        first, *rest = names
        listed = ", ".join(f"`{name}`" for name in (f"{short}.{first}", *rest))
        text += f"| {listed} | {row.why} | {row.instead} |\n"
    return text.replace(" |  |", " | |")


def _known() -> str:
    text = "| module | functions |\n|---|---|\n"
    for module in MODULES:
        names = [f"`{name}`" for name in functions(module) if kind(module, name) == {"known"}]
        if names:
            text += f"| `{module}` | {', '.join(names)} |\n"
    return text


def _types() -> str:
    text = "| operands | functions | NumPy, SciPy | kinetograph |\n|---|---|---|---|\n"
    for rule in TYPES:
        text += f"| {rule.operands} | {rule.functions} | {rule.theirs} | {rule.ours} |\n"
    return text


def written(page: str) -> str:
    """The page with its tables as the code has them."""
    head, _, rest = page.partition(BEGIN)
    tail = rest.partition(END)[2]
    versions = ", ".join(
        f"{name} {'.'.join(module.__version__.split('.')[:2])}"
        for name, module in (("NumPy", np), ("SciPy", scipy))
    )
    return (
        f"{head}{BEGIN}\n## Available\n\nOf {versions}:\n\n{_available()}\n"
        f"## What to write instead of other functions\n\n{_refused()}\n## Functions of known numbers\n\n"
        "These functions make or describe NumPy arrays, or take numbers only. Use them as usual, and combine\n"
        f"their results with arrays.\n\n{_known()}\n## Types that differ\n\n"
        f"All other results have NumPy's type.\n\n{_types()}\n{END}{tail}"
    )


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
