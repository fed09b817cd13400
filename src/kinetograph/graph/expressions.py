"""Expressions: texts of operations as the user would write them.

Brackets are written only where they are needed. The expression of a node is built from the
expressions of its operands, so the cost is proportional to the number of nodes, for deep graphs and
for graphs with shared nodes, too. An expression that becomes too long is cut to `...`.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .node import FORM, Apply, Call, Data, Node

__all__ = [
    "Expression",
    "apply_expression",
    "atom",
    "call_expression",
    "constant_text",
    "operator_expression",
]

LONGEST = 60  # characters of an expression

_PRECEDENCE = {
    **dict.fromkeys(["==", "!=", "<", "<=", ">", ">="], 1),
    "|": 2,
    "^": 3,
    "&": 4,
    **dict.fromkeys(["<<", ">>"], 5),
    **dict.fromkeys(["+", "-"], 6),
    **dict.fromkeys(["*", "/", "//", "%", "@"], 7),
    "**": 9,
}
_UNARY = 8
_ATOM = 10
_ASSOCIATIVE = "+*&|^@"


class Expression(NamedTuple):
    """A text and the binding strength of its outermost operator."""

    text: str
    binding: int = _ATOM

    def within(self, binding: int) -> str:
        """The text, in brackets if it binds less strongly than needed."""
        return self.text if self.binding >= binding else f"({self.text})"


_CUT = Expression("...")


def atom(text: str) -> Expression:
    """Make an expression that needs no brackets: a name, number or call."""
    return Expression(text)


def constant_text(node: Data) -> str:
    """The value of a constant; `array[shape]` if it is long."""
    if node.size == 1:
        return f"{node.value.item():.6g}"
    if node.size <= 4 and len(node.shape) == 1:
        return f"[{', '.join(f'{v:.6g}' for v in node.value.tolist())}]"
    return f"array[{', '.join(map(str, node.shape))}]"


def apply_expression(node: Node, operands: list[Expression]) -> Expression:
    """The expression of a node, given the expressions of its parents."""
    return _fitted(lambda parts: _write(node, parts), operands)


def call_expression(call: Call, operands: list[Expression]) -> Expression:
    """The expression of one of several results, such as `while_1(i=0, n).i`."""

    def write(parts: list[Expression]) -> Expression:
        named = zip(call.labels, parts, strict=True)
        arguments = ", ".join(f"{name}={p.text}" if name else p.text for name, p in named)
        return atom(f"{call.name}({arguments}){call.suffix}")

    return _fitted(write, operands)


def _fitted(
    write: Callable[[list[Expression]], Expression], operands: list[Expression]
) -> Expression:
    """Write an expression; cut its longest operands until it is short enough."""
    parts = list(operands)
    while True:
        result = write(parts)
        longest = max(range(len(parts)), key=lambda i: len(parts[i].text), default=None)
        if len(result.text) <= LONGEST or longest is None or len(parts[longest].text) <= 12:
            return result
        parts[longest] = _CUT


def _write(node: Node, parts: list[Expression]) -> Expression:
    if not isinstance(node, Apply):
        return atom(f"{node.label()}({', '.join(p.text for p in parts)})")
    if node.operation is FORM:
        return parts[0]
    symbol, name = node.operation.symbol, node.operation.name
    if symbol and len(parts) == 2:
        return operator_expression(symbol, *parts)
    if symbol and len(parts) == 1:
        if "y" in node.attributes:  # an integer exponent, known when the graph is built
            return Expression(f"{parts[0].within(_ATOM)} ** {node.attributes['y']}", 9)
        return Expression(f"{symbol}{parts[0].within(_UNARY)}", _UNARY)
    if name == "index":
        return atom(f"{parts[0].within(_ATOM)}[{_key(node, parts[1:])}]")
    if name == "transpose" and node.attributes.get("axes") == tuple(
        reversed(range(len(node.shape)))
    ):
        return atom(f"{parts[0].within(_ATOM)}.T")
    arguments = [p.text for p in parts] + _options(node)
    return atom(f"{name}({', '.join(arguments)})")


def operator_expression(symbol: str, left: Expression, right: Expression) -> Expression:
    """`left symbol right`, with brackets where the operands need them."""
    binding = _PRECEDENCE.get(symbol, 0)
    tighter = binding + 1
    if symbol == "**":
        texts = left.within(_ATOM), right.within(_UNARY)
    else:
        # Comparisons do not chain: a < (b < c) and (a < b) < c both need their brackets.
        associates = (
            symbol in _ASSOCIATIVE and f" {symbol} " in right.text and right.binding == binding
        )
        texts = (
            left.within(tighter if binding == 1 else binding),
            right.within(binding if associates else tighter),
        )
    return Expression(f"{texts[0]} {symbol} {texts[1]}", binding)


def _key(node: Apply, indices: list[Expression]) -> str:
    """The text between the square brackets: fixed parts and index arrays."""
    remaining = iter(indices)
    texts = []
    for part in node.attributes.get("template", ()):
        if part is None or isinstance(part, (int, np.integer)):
            texts.append(str(part))
        elif part is Ellipsis:
            texts.append("...")
        elif isinstance(part, slice):
            ends = ["" if v is None else str(v) for v in (part.start, part.stop)]
            texts.append(":".join(ends + ([str(part.step)] if part.step is not None else [])))
        else:
            texts.append(next(remaining, _CUT).text)
    return ", ".join(texts)


def _options(node: Apply) -> list[str]:
    """The attributes that an unambiguous expression needs: the axis."""
    axis = node.attributes.get("axis")
    shape = node.parents[0].shape if node.parents else ()
    if isinstance(axis, tuple):
        if len(axis) == len(shape):
            return []
        axis = axis[0] if len(axis) == 1 else axis
    if axis is None or len(shape) < 2:
        return []
    return [f"axis={axis}"]
