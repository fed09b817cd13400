"""The tables of `docs/numpy.md`: functions of NumPy and SciPy for arrays.

python -m tests.docs.numpy_tables      writes the tables into the page
"""

from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import scipy
import scipy.special
from tests.docs.pages import ROOT

from kinetograph.graph.numpy.alternatives import OF_NUMBERS, ROWS, THROUGH
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
    """A rule for results whose type differs from NumPy and SciPy."""

    operands: str
    functions: str
    numpy_type: str
    type_here: str
    covers: Callable[[str, tuple[np.dtype, ...], str, str], bool]
    """Whether the rule explains a difference.

    Its arguments are the name, the operands' types, the type in NumPy or SciPy, and the type here.
    """


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
        lambda name, operands, numpy_type, type_here: (
            any(map(_is_small, operands))
            and numpy_type in ("float16", "float32")
            and type_here == "float64"
        ),
    ),
    Different(
        "`float16`",
        "`np.i0`, `np.sinc`, `np.linalg.norm`",
        "`float16`",
        "`float32`",
        lambda name, operands, numpy_type, type_here: (
            name in ("i0", "sinc", "norm")
            and all(map(_is_half, operands))
            and type_here == "float32"
        ),
    ),
    Different(
        "`float16`",
        "`scipy.special.logit`",
        "`float64`",
        "`float32`",
        lambda name, operands, numpy_type, type_here: (
            name == "logit" and all(map(_is_half, operands))
        ),
    ),
    Different(
        "`float16` and `float32`",
        "`np.cov`, `np.corrcoef`",
        "`float64`",
        "the type of the operands",
        lambda name, operands, numpy_type, type_here: (
            name in ("cov", "corrcoef") and numpy_type == "float64"
        ),
    ),
    Different(
        "booleans",
        "`x ** 2`",
        "`int8`",
        "`int64`",
        lambda name, operands, numpy_type, type_here: (
            name == "square by **" and numpy_type == "int8"
        ),
    ),
    Different(
        "booleans",
        "`np.polyval`",
        "`bool`",
        "`int64`",
        lambda name, operands, numpy_type, type_here: name == "polyval" and numpy_type == "bool",
    ),
    Different(
        "booleans",
        "`np.round` to a number of decimals, `np.quantile`, `np.gradient`",
        "refused",
        "the working precision, `float64`",
        lambda name, operands, numpy_type, type_here: (
            numpy_type == "refused" and operands[0].kind == "b"
        ),
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
    """The tables of a function: available, refused or known; exactly one."""
    function = functions(module)[name]
    dispatched = isinstance(function, np.ufunc) or hasattr(function, "_implementation")
    known = not dispatched and (module != "scipy.special" or name in OF_NUMBERS.split())
    through = module == "scipy.special" and name in THROUGH
    tables = {
        "available": (dispatched and is_available(function)) or through,
        "refused": (module, name) in REFUSED,
        "known": known,
    }
    return {table for table, belongs in tables.items() if belongs}


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
        text += f"| {rule.operands} | {rule.functions} | {rule.numpy_type} | {rule.type_here} |\n"
    return text


def written(page: str) -> str:
    """The page with tables generated from the code."""
    head, _, rest = page.partition(BEGIN)
    tail = rest.partition(END)[2]
    versions = ", ".join(
        f"{name} {'.'.join(module.__version__.split('.')[:2])}"
        for name, module in (("NumPy", np), ("SciPy", scipy))
    )
    return (
        f"{head}{BEGIN}\n## Available\n\nOf {versions}:\n\n{_available()}\n"
        f"## What to write instead of other functions\n\n{_refused()}\n"
        "## Functions of known numbers\n\n"
        "These functions make or describe NumPy arrays, or take numbers only. "
        "Use them as usual, and combine\n"
        f"their results with arrays.\n\n{_known()}\n## Types that differ\n\n"
        f"All other results have NumPy's type.\n\n{_types()}\n{END}{tail}"
    )


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
