"""Messages for Python functions of other libraries that are called with arrays."""

import sys
from types import FrameType
from typing import NamedTuple

from ..source import LIBRARIES, is_own, place_text
from ..suggestions import elsewhere
from .alternatives import advice

__all__ = ["instead", "library_call"]

# Distributions of scipy.stats, with their names in kinetograph; `distributions` fills the table.
DISTRIBUTIONS: dict[str, str] = {}
METHODS = {
    "cdf": "kg.cdf({0}, x)",
    "logcdf": "kg.log_cdf({0}, x)",
    "logpdf": "kg.log_density({0}, x)",
    "logpmf": "kg.log_density({0}, x)",
    "logsf": "kg.log_survival({0}, x)",
    "pdf": "kg.exp(kg.log_density({0}, x))",
    "pmf": "kg.exp(kg.log_density({0}, x))",
    "ppf": "kg.quantile({0}, p)",
    "rvs": "kg.calculate({0}, draws=1000)",
    "sf": "kg.exp(kg.log_survival({0}, x))",
}


_SYMBOLS = {
    **dict.fromkeys(("mul", "multiply"), "*"),
    "add": "+",
    **dict.fromkeys(("sub", "subtract"), "-"),
    **dict.fromkeys(("div", "divide", "truediv"), "/"),
    "pow": "**",
}
_SYMBOLS |= {"gt": ">", "ge": ">=", "lt": "<", "le": "<=", "eq": "==", "ne": "!="}


class Called(NamedTuple):
    """A library function that the user called with an array."""

    name: str
    distribution: str  # the distribution of scipy.stats, if it is a method of one
    joining: bool  # whether it is np.r_ or np.c_


def library_call() -> Called | None:
    """The library function on the stack that the user called, or None."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and is_own(frame.f_code.co_filename):
        frame = frame.f_back
    outer = None
    while frame is not None and _module(frame).partition(".")[0] in LIBRARIES:
        outer = outer if frame.f_code.co_name == _FILTER else frame
        frame = frame.f_back
    if outer is None:
        return None
    code, module = outer.f_code, _module(outer)
    if module.startswith("scipy.stats"):
        self = outer.f_locals.get("self")
        self = getattr(self, "dist", self)  # a frozen distribution holds its distribution
        holder, kind = getattr(self, "name", None), type(self).__name__.removesuffix("_gen")
        holder = holder if isinstance(holder, str) else kind
        distribution = holder if holder in DISTRIBUTIONS else ""
        return Called(f"scipy.stats.{holder}.{code.co_name}", distribution, False)
    if module.startswith("jax."):
        return Called(_jax_name(outer), "", False)
    if code.co_qualname.startswith("AxisConcatenator"):
        return Called("np.r_ or np.c_", "", True)
    return Called(_public_name(outer), "", False)


def _public_name(frame: FrameType) -> str:
    """The public name of a function, class or method.

    For a wrapper, it is the name of the wrapped function.
    """
    module, local_values = _module(frame), frame.f_locals
    qualified_name = frame.f_code.co_qualname
    wrapped = (
        local_values.get("fun", local_values.get("func"))
        if qualified_name.endswith("wrapper")
        else None
    )
    if qualified_name.endswith(("__call__", "__init__")):
        qualified_name = type(local_values.get("self")).__name__
        wrapped = local_values.get("self") if frame.f_code.co_name == "__call__" else None
    name = str(getattr(wrapped, "__name__", qualified_name))
    home = _public_module(module, name)
    if home is None and name != qualified_name:
        home, name = _public_module(module, qualified_name), qualified_name
    inner = ".".join(part for part in module.split(".") if not part.startswith("_"))
    return f"{home or inner}.{name}"


_FILTER = "reraise_with_filtered_traceback"  # JAX's wrapper of its functions
_OF_JAX = ("jax.numpy", "jax.scipy.special", "jax.nn", "jax.lax", "jax.numpy.linalg", "jax")


def _jax_name(frame: FrameType) -> str:
    """The public name of a function of JAX."""
    name, module = frame.f_code.co_qualname, _module(frame)
    function = frame.f_locals.get("fun")
    if name.endswith(".cache_miss"):  # `fun` is compiled by jax.jit
        name, module = getattr(function, "__qualname__", ""), getattr(function, "__module__", "")
        if not str(module).startswith("jax."):
            return "jax.jit"
    name = name.partition(".<locals>")[0]
    if "_stats." in module or ".stats." in module:
        return f"jax.scipy.stats.{module.rpartition('.')[2]}.{name}"
    for home in _OF_JAX:
        if hasattr(sys.modules.get(home), name):
            return f"{home}.{name}"
    return f"jax.{name}"


def _public_module(module: str, name: str) -> str | None:
    """The public module that exports a name, or None.

    The name is defined in an inner module.
    """
    first, outer = name.partition(".")[0], module.rpartition(".")[0]
    while outer:
        if "._" not in outer and hasattr(sys.modules.get(outer), first):
            return outer
        outer = outer.rpartition(".")[0]
    return None


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__"))


def instead(called: Called, array: str) -> str:
    """The message for a library function that was called with an array."""
    method = METHODS.get(called.name.rpartition(".")[2])
    function = called.name.rpartition(".")[2]
    if called.joining:
        hint = f"write kg.concatenate([{array}, ...]), or kg.stack([...], axis=1)"
    elif called.distribution and method:
        hint = "write " + method.format(f"kg.{DISTRIBUTIONS[called.distribution]}(...)")
    elif called.name == "numpy.full":
        hint = f"write {array} * numpy.ones(shape)"
    elif called.name.startswith(("pandas.", "polars.")):
        symbol = _SYMBOLS.get(function.strip("_"))
        table = "series" if ".Series" in called.name else "df"
        operand = array if array.isidentifier() else f"({array})"
        hint = f"compute with the numbers of the table, as in {table}.to_numpy() @ {operand}"
        if function.strip("_") in ("matmul", "rmatmul", "dot"):
            dims = "" if table == "series" else ", dims=('row', 'coef')"
            hint = f"write kg.data({table}{dims}) @ {array}, which keeps the labels of the table"
        if function in ("DataFrame", "Series", "__setitem__", "assign", "insert", "with_columns"):
            hint = f"a table has numbers only: keep the array outside of it, eta = {array}"
        if function == "__getitem__":
            hint = "rows are selected by known values; write kg.where(condition, a, b)"
        if symbol is not None:
            operand = array if array.isidentifier() else "x"
            hint = f"write the operator: {table} {symbol} {operand}"
            if called.name.startswith("polars."):
                hint = f"write {table}.to_numpy() {symbol} {operand}"
    elif called.name.startswith("jax.scipy.stats.") and method:
        family = DISTRIBUTIONS.get(called.name.split(".")[-2], "distribution")
        hint = "write " + method.format(f"kg.{family}(...)")
    elif called.name.startswith("jax."):
        hint = _of_jax(called.name)
    elif words := advice(called.name.rpartition(".")[0], function, array):
        return f"{called.name} is not available for arrays in a graph{place_text()}{words}"
    else:
        hint = (
            "kg.lift(function) makes an operation of any JAX function, and kg.compile makes a "
            "function that takes numbers"
        )
    return (
        f"{called.name} computes with numbers, and the value of {array} is not known while the "
        f"graph is built{place_text()}; {hint}"
    )


def _of_jax(name: str) -> str:
    """Advice on a function of JAX that was called with an array."""
    function = name.rpartition(".")[2]
    if name.endswith(("numpy.array", "numpy.asarray")):
        return "kg.stack([...]) joins arrays, and an array itself is taken as it is"
    if name == "jax._IndexUpdateRef.set":
        return "write kg.data(x).at[i].set(value)"
    advice_here = elsewhere("jax", function).removeprefix("; ")
    return advice_here or f"kg.lift({name}) makes an operation of it"
