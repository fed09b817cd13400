"""Features that are expressions of columns, evaluated in the compiled program."""

import ast
import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax.numpy as jnp
import numpy as np

from ...graph.errors import DataError
from ...graph.precision import x64
from ...graph.public import public
from ...graph.suggestions import did_you_mean
from ..interface import Network
from ..network import as_network

__all__ = ["InputColumns"]

_FUNCTIONS = {
    name: getattr(jnp, name) for name in ("sin", "cos", "tan", "exp", "log", "sqrt", "tanh", "abs")
}
_OPERATORS: dict[type, Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
}


@public
class InputColumns:
    """Features of inputs: columns and expressions of columns.

    An expression has names of columns, numbers, `+ - * / ^` with parentheses, and the functions
    sin, cos, tan, exp, log, sqrt, tanh and abs. It is parsed, and never executed as Python.

    Parameters
    ----------
    expressions
        Texts such as "x1", "x1^2", "sin(x1)" or "x1*x2", one for each feature.
    columns
        The names of the columns of the data.

    Raises
    ------
    ValueError
        If an expression has an unknown column or function, or is not an expression.

    Examples
    --------
    >>> import numpy as np, kinetograph as kg
    >>> features = kg.neural.datasets.InputColumns(["x1", "x1^2", "x1*x2"], ["x1", "x2"])
    >>> features(np.array([[2.0, 3.0], [1.0, 5.0]])).tolist()
    [[2.0, 4.0, 6.0], [1.0, 1.0, 5.0]]
    """

    def __init__(self, expressions: Sequence[str], columns: Sequence[str]) -> None:
        names = [expressions] if isinstance(expressions, str) else list(expressions)
        if not names:
            raise ValueError("InputColumns: give at least one expression")
        self.names, self.columns = tuple(names), tuple(columns)
        self._features = [self._parsed(text) for text in names]

    def __call__(self, rows: Any) -> Any:
        """The features of rows: (..., columns) to (..., features)."""
        rows = jnp.asarray(rows)
        values = [jnp.broadcast_to(f(rows), rows.shape[:-1]) for f in self._features]
        return jnp.stack(values, -1)

    def check(self, rows: np.ndarray, doing: str) -> None:
        """Refuse rows for which a feature is not finite.

        Raises
        ------
        DataError
            The message names the expression, the row and the values of its columns.
        """
        with x64():
            values = np.asarray(self(rows))
        wrong = np.argwhere(~np.isfinite(values))
        if len(wrong):
            row, feature = (int(i) for i in wrong[0])
            text, count = self.names[feature], len(np.unique(wrong[:, 0]))
            words = set(re.findall(r"\w+", text)) | {text}
            there = ", ".join(
                f"{name} = {rows[row, i]:g}" for i, name in enumerate(self.columns) if name in words
            )
            more = f", and in {count - 1} other row{'s' * (count > 2)}" if count > 1 else ""
            raise DataError(
                f"{doing}: the feature {text!r} is {values[row, feature]:g} in row {row}, where "
                f"{there}{more}; remove such rows, or write an expression that is finite"
            )

    def network(self, network: Any) -> Network:
        """The network whose inputs are the features of a row.

        `network` is anything that `kg.neural.network` takes.
        """
        inner = as_network(network, "InputColumns.network")
        featured = _Featured(self, inner)
        return replace(
            inner,
            start=featured.start,
            apply=featured.apply,
            apply_rows=featured.apply_rows,
            apply_noisy=None if inner.apply_noisy is None else featured.apply_noisy,
        )

    def __reduce__(self) -> Any:
        return InputColumns, (self.names, self.columns)

    def _parsed(self, text: str) -> Callable[[Any], Any]:
        if text in self.columns:
            return self._column(text, text)
        try:
            tree = ast.parse(str(text).replace("^", "**"), mode="eval")
        except SyntaxError as error:
            raise ValueError(f"InputColumns: {text!r} is not an expression: {error.msg}") from error
        return self._function(tree.body, text)

    def _column(self, name: str, text: str) -> Callable[[Any], Any]:
        if name not in self.columns:
            raise ValueError(
                f"InputColumns: {text!r}: unknown column {name!r}"
                f"{did_you_mean(name, self.columns)}; the columns are {', '.join(self.columns)}"
            )
        index = self.columns.index(name)
        return lambda rows: rows[..., index]

    def _function(self, node: ast.AST, text: str) -> Callable[[Any], Any]:
        """The function of rows for a part of an expression."""
        match node:
            case ast.Constant(value=value) if type(value) in (int, float):
                return lambda rows: value
            case ast.Name(id=name):
                return self._column(name, text)
            case ast.UnaryOp(op=op, operand=operand) if type(op) in _OPERATORS:
                unary, inner = _OPERATORS[type(op)], self._function(operand, text)
                return lambda rows: unary(inner(rows))
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
                binary = _OPERATORS[type(op)]
                first, second = self._function(left, text), self._function(right, text)
                return lambda rows: binary(first(rows), second(rows))
            case ast.Call(func=ast.Name(id=name), args=[argument], keywords=[]):
                if name not in _FUNCTIONS:
                    raise ValueError(
                        f"InputColumns: {text!r}: unknown function {name!r}"
                        f"{did_you_mean(name, _FUNCTIONS)}; the functions are "
                        f"{', '.join(_FUNCTIONS)}"
                    )
                function, inner = _FUNCTIONS[name], self._function(argument, text)
                return lambda rows: function(inner(rows))
        raise ValueError(
            f"InputColumns: {text!r}: {ast.unparse(node)} is not allowed; use columns, numbers, "
            f"+ - * / ^ and {', '.join(_FUNCTIONS)}"
        )


@dataclass(frozen=True)
class _Featured:
    """The functions of a network whose inputs are features, without closures."""

    features: InputColumns
    inner: Network

    def start(self, key: Any, row: Any, outputs: int) -> Any:
        """Initial parameters."""
        return self.inner.start(key, self.features(row), outputs)

    def apply(self, parameters: Any, row: Any) -> Any:
        """The outputs of a row."""
        return self.inner.apply(parameters, self.features(row))

    def apply_noisy(self, parameters: Any, row: Any, word: Any) -> Any:
        """The outputs of a row with noise."""
        assert self.inner.apply_noisy is not None
        return self.inner.apply_noisy(parameters, self.features(row), word)

    def apply_rows(self, parameters: Any, rows: Any) -> Any:
        """The outputs of many rows."""
        return self.inner.outputs(parameters, self.features(rows))
