"""Types of results agree with NumPy and SciPy, except for listed differences."""

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.special
from tests.docs.numpy_tables import TYPES
from tests.graph.helpers import apply

import kinetograph as kg
from kinetograph.graph.numpy.protocol import is_available

DTYPES = [
    np.dtype(name)
    for name in "bool int8 int16 int32 int64 uint8 uint16 uint64 float16 float32 float64".split()
]
FEW = [np.dtype(name) for name in "bool int8 uint8 int16 int32 float16 float32 float64".split()]
WITH_KNOWN = {"iv", "ive", "kv", "kve", "matvec", "vecmat"}  # other shapes, or known operands

# Functions of one operand that are not ufuncs.
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "round": np.round,
    "round to 2": lambda x: np.round(x, 2),
    "round to -1": lambda x: np.round(x, -1),
    "clip": lambda x: np.clip(x, 0, 1),
    "where": lambda x: np.where([True, False], x, 0),
    "select": lambda x: np.select([[True, False]], [x]),
    "isclose": lambda x: np.isclose(x, 1.0),
    "plus 1": lambda x: x + 1,
    "plus 1.0": lambda x: x + 1.0,
    "times True": lambda x: x * True,
    "square by **": lambda x: x**2,
    "root by **": lambda x: x**0.5,
    "half": lambda x: x / 2,
    "quantile": lambda x: np.quantile(x, 0.5),
    "convolve": lambda x: np.convolve(x, x),
    "outer": lambda x: np.outer(x, x),
    "einsum": lambda x: np.einsum("i,i->", x, x),
    "dot": lambda x: np.dot(x, x),
    "polyval": lambda x: np.polyval(x, x),
    "interp": lambda x: np.interp(x, [0, 1], [0, 1]),
    "pad": lambda x: np.pad(x, 1),
    "norm": np.linalg.norm,
    **{
        name: getattr(np, name)
        for name in (
            "fix nan_to_num sinc i0 real imag copy real_if_close iscomplex isposinf sum prod "
            "cumsum cumprod mean var std max median ptp argmax sort diff trapezoid average cov "
            "corrcoef count_nonzero gradient unwrap nansum nanprod nanmax nanmean nanvar"
        ).split()
    },
}


def ufuncs() -> dict[str, np.ufunc]:
    """The ufuncs that take arrays of a graph, once each."""
    found = {}
    for module in (np, scipy.special):
        for name in sorted(module.__all__):
            function = getattr(module, name)
            known = not isinstance(function, np.ufunc) or name in WITH_KNOWN
            if not known and is_available(function) and function not in found.values():
                found[name if module is np else f"sp.{name}"] = function
    return found


def type_of(function: Callable[..., Any], operands: list[Any]) -> str:
    """The type of the first result; "refused" if there is an error."""
    try:
        with np.errstate(all="ignore"):
            found = function(*operands)
    except (TypeError, kg.SymbolicError):  # errors of NumPy and of kinetograph
        return "refused"
    first = found[0] if isinstance(found, tuple) else found
    return np.dtype(first.dtype).name


def differences(name: str, function: Callable[..., Any], count: int) -> list[Any]:
    """The operands whose results have another type here."""
    types = itertools.product(FEW, repeat=2) if count == 2 else ((t,) * count for t in DTYPES)
    found = []
    for operands in types:
        theirs = type_of(function, [np.ones(2, t) for t in operands])
        ours = type_of(function, [kg.placeholder((2,), t) for t in operands])
        if theirs != ours:
            found.append((name.removeprefix("sp."), operands, theirs, ours))
    return found


@pytest.mark.filterwarnings("ignore")
def test_types_are_those_of_numpy_or_listed() -> None:
    found = [
        each
        for name, function in {**ufuncs(), **FUNCTIONS}.items()
        for each in differences(
            name, function, function.nin if isinstance(function, np.ufunc) else 1
        )
    ]
    reasons = {rule: [rule.covers(*difference) for difference in found] for rule in TYPES}
    unlisted = ~np.any(list(reasons.values()), axis=0)
    assert not [difference for difference, bad in zip(found, unlisted, strict=True) if bad]
    assert not [rule for rule, covered in reasons.items() if not any(covered)]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int64"])
@pytest.mark.parametrize("decimals", [-3, -2, -1, 0, 1])
def test_whole_numbers_are_rounded_as_whole_numbers(dtype: str, decimals: int) -> None:
    limits = np.iinfo(dtype)
    x = np.arange(max(limits.min, -1200), min(limits.max, 1200) + 1)
    nearest = np.round(x, decimals)
    x = x[(limits.min <= nearest) & (nearest <= limits.max)].astype(dtype)
    found = apply(lambda v: np.round(v, decimals), x)
    assert found.dtype == x.dtype
    np.testing.assert_array_equal(found, np.round(x, decimals))


def test_large_whole_numbers_keep_their_digits() -> None:
    x = np.array([2**62 + 15, 2**53 + 5, -(2**62) - 15])
    found = apply(lambda v: np.round(v, -1), x)
    assert found.tolist() == [int(round(v, -1)) for v in x.tolist()]
