"""What calls are given: numbers, texts, arrays, functions and what the library itself makes."""

import decimal
import fractions
from functools import cache
from typing import Any

import numpy as np
import xarray as xr

import kinetograph as kg

__all__ = ["FITTING", "ZOO"]


def _raising(*_: Any) -> Any:
    raise LookupError("a mistake in the user's function")


@kg.function
def _staged(x):
    return 2 * x


class _Walk(kg.Sampler):
    step_size = kg.hyper(1.0, positive=True)

    def step(self, at):
        return self.evaluate(at.q + self.step_size * self.noise("walk", like=at.q))


def _model() -> kg.Model:
    mu = kg.normal(0, 1, name="mu")
    sd = kg.half_normal(1, name="sd")
    y = kg.observe(kg.data([0.5, 1.5], name="y"), kg.normal(mu, sd))
    assert y is not None
    return kg.model(mu, sd)


@cache
def _run() -> tuple[kg.Model, xr.DataTree]:
    model = _model()
    return model, kg.mcmc(model, draws=20, warmup=20, chains=2, seed=1, progress=False)


_NUMBERS = (0, 1, -1, 2, 3, 0.5, -0.5, 1e308, 5e-324, float("nan"), float("inf"), -float("inf"))
_NUMBERS += (2**31, 2**63, 2**64, 10**30, True, False, None, 1j, np.float32(1.5), np.int8(3))
_NUMBERS += (np.uint8(200), np.bool_(True), fractions.Fraction(1, 3), decimal.Decimal("0.1"))
_TEXTS = ("", "mu", "x", "x" * 300, "\0", "é", "nuts", "adam", "0", "float32", "school")
_ARRAYS = {
    "no numbers": lambda: np.zeros(0),
    "no columns": lambda: np.ones((2, 0)),
    "three ones": lambda: np.ones(3),
    "whole numbers": lambda: np.arange(6).reshape(2, 3),
    "unit matrix": lambda: np.eye(2),
    "a cube": lambda: np.ones((2, 2, 2)),
    "NaN": lambda: np.array([np.nan, 1.0]),
    "infinities": lambda: np.array([np.inf, -np.inf]),
    "texts": lambda: np.array(["a", "b"]),
    "objects": lambda: np.array([None, 1], object),
    "halves": lambda: np.ones(2, np.float16),
    "complex": lambda: np.ones(2, complex),
    "booleans": lambda: np.array([True, False]),
    "bytes": lambda: np.array([0, 255], np.uint8),
    "dates": lambda: np.array(["2026-01-01", "NaT"], "datetime64[D]"),
    "records": lambda: np.zeros(2, [("a", float), ("b", int)]),
    "masked": lambda: np.ma.masked_array([1.0, 2.0], [True, False]),
    "a DataArray": lambda: xr.DataArray([1.0, 2.0], dims="school"),
}
_HOLDERS = {
    "empty list": list,
    "list": lambda: [1.0, 2.0],
    "ragged list": lambda: [[1], [2, 3]],
    "list of None": lambda: [None],
    "list of texts": lambda: ["a", "b"],
    "empty tuple": tuple,
    "pair": lambda: (0, 1),
    "shape": lambda: (2, 3),
    "negative shape": lambda: (-1, 2),
    "huge shape": lambda: (2**40, 2**40),
    "empty dictionary": dict,
    "values": lambda: {"mu": 0.5, "sd": 1.0},
    "other values": lambda: {"nu": 1.0, 3: None},
    "set": lambda: {1, 2},
    "range": lambda: range(3),
    "generator": lambda: (i for i in range(3)),
    "slice": lambda: slice(0, 2),
}
_OURS = {
    "data": lambda: kg.data(2.0),
    "data vector": lambda: kg.data([1.0, 2.0, 3.0]),
    "data of a dim": lambda: kg.data([1.0, 2.0], dims="school"),
    "whole data": lambda: kg.data([[1, 2], [3, 4]]),
    "boolean data": lambda: kg.data([True, False]),
    "byte data": lambda: kg.data(np.array([0, 255], np.uint8)),
    "placeholder": lambda: kg.placeholder(),
    "placeholder of a shape": lambda: kg.placeholder((2, 2)),
    "whole placeholder": lambda: kg.placeholder((), "int64"),
    "state": lambda: kg.state(0.0),
    "unknown": lambda: kg.normal(0, 1),
    "unknown vector": lambda: kg.normal(0, 1, shape=3),
    "unknown simplex": lambda: kg.dirichlet([1.0, 1.0, 1.0]),
    "unknown matrix": lambda: kg.wishart(3, np.eye(2)),
    "unknown count": lambda: kg.poisson(3.0),
    "flat unknown": lambda: kg.variable(lower=0),
    "computed": lambda: 2 * kg.normal(0, 1, shape=3) + 1,
    "comparison": lambda: kg.normal(0, 1, shape=3) > 0,
    "mixture": lambda: kg.mixture(kg.normal(0, 1), kg.normal(5, 1), weights=[0.5, 0.5]),
    "arrays": lambda: [kg.normal(0, 1), kg.data(1.0)],
    "a range of kg": lambda: kg.range(3),
    "streams": lambda: kg.RandomStreams(1),
    "a draw": lambda: kg.RandomStreams(1).normal(),
    "dataset": lambda: kg.Dataset(np.ones((4, 2))),
    "model": _model,
    "prior": lambda: kg.model(kg.normal(0, 1, name="mu")),
    "model that was run": lambda: _run()[0],
    "results": lambda: _run()[1],
    "posterior": lambda: _run()[1]["posterior"],
    "NUTS": lambda: kg.samplers.NUTS(),
    "own sampler": _Walk,
    "class of samplers": lambda: kg.samplers.HMC,
    "optimizer": lambda: kg.optimizers.adam(0.1),
    "observable": lambda: kg.observables.kinetic_energy,
    "dim": lambda: kg.dim("school", ["A", "B"]),
    "until": lambda: kg.until(ess=100),
    "kernel": lambda: kg.gp.rbf(1.0),
    "compiled": lambda: kg.compile([x := kg.placeholder()], x * 2),
    "staged": lambda: _staged,
}
_FUNCTIONS = {
    "identity": lambda: lambda x: x,
    "constant": lambda: lambda: 1.0,
    "any arguments": lambda: lambda *values: None,
    "two arguments": lambda: lambda a, b: (a, b),
    "raising": lambda: _raising,
    "predicate": lambda: lambda x: x > 0,
    "np.sin": lambda: np.sin,
    "type": lambda: float,
    "object": object,
    "module": lambda: np,
}
ZOO = {
    **{f"number {v!r}": lambda v=v: v for v in _NUMBERS},
    **{f"text {v[:8]!r}": lambda v=v: v for v in _TEXTS},
    **_ARRAYS,
    **_HOLDERS,
    **_OURS,
    **_FUNCTIONS,
}
_ANY_ARRAY = ("data vector", "unknown vector", "whole data", "computed", "three ones", "data")
_DISTRIBUTION = ("unknown", "unknown vector", "unknown count", "mixture", "unknown simplex")
# Parameters by name, and what suits them, so that calls get far.
FITTING: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("x", "y", "a", "b", "term", "values", "value", "xs"), _ANY_ARRAY),
    **dict.fromkeys(("distribution", "distributions"), _DISTRIBUTION),
    **dict.fromkeys(("results", "tree"), ("results",)),
    **dict.fromkeys(("mean", "mu", "location", "sd", "sigma", "scale", "rate"), _ANY_ARRAY),
    **dict.fromkeys(("f", "fn", "function", "true_fn", "false_fn"), ("identity", "constant")),
    **dict.fromkeys(("draws", "chains", "warmup", "thin", "n"), ("number 1", "number 2")),
    **dict.fromkeys(("axis", "k", "seed", "index"), ("number 0", "number 1", "number -1")),
    "model": ("model", "prior", "model that was run"),
    "targets": ("unknown", "computed", "unknown vector"),
    "arrays": ("arrays",),
    "data": ("data vector", "three ones", "list"),
    "shape": ("shape", "number 2", "empty tuple"),
    "dims": ("dim", "text 'school'"),
    "sampler": ("NUTS", "own sampler"),
    "optimizer": ("optimizer", "text 'adam'"),
    "name": ("text 'mu'",),
    "size": ("number 2",),
    "kernel": ("kernel",),
    "free": ("list", "unit matrix", "values"),
    "inputs": ("placeholder", "arrays"),
    "outputs": ("computed", "arrays"),
    "prob": ("number 0.5",),
    "pred": ("comparison", "number True"),
    "observables": ("observable",),
}
