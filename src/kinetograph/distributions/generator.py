"""Generators: functions of random bits and named parameters that draw numbers."""

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import permutations
from typing import Any

import numpy as np

from ..graph.array import Array
from ..graph.dims import Dim
from ..graph.errors import KinetographWarning, ModelError, ShapeError, SymbolicError
from ..graph.messages import describe, index_text, site_text, variable_of
from ..graph.missing import ADVICE
from ..graph.node import Apply, Data, Node
from ..graph.source import place_text, variable_name, warn_user
from ..graph.value_texts import shown
from .parameter import Parameter
from .support import POSITIVE, Interval, Ordered, Simplex, Support, Weights, ZeroSum
from .unbounded import range_of, values_of

__all__ = ["WHOLE", "Generator", "shape_of"]

WHOLE = np.dtype(np.int64)
_LONGEST = 1000  # greatest length of a vector in a message
NEAR = 1e-6  # of the length of a range: values that only rounding puts beyond an end
# The calls by the mean of distributions whose own parameters are often taken for it.
_BY_MEAN = {"negative_binomial": "negative_binomial(mean=..., dispersion=...)"}
_PERMUTED = 4  # greatest number of parameters whose orders are tried for a message


@dataclass(frozen=True, eq=False)
class Generator:
    """A kind of random number, vector or matrix.

    `draw(source, *parameters)` returns numbers of the shape of the source. They depend on its bits
    and on the parameters alone, and are differentiable by real parameters. Impossible parameters
    give NaN, or -1 if the numbers are whole. `event_shape` is the shape of one vector or matrix,
    from the shapes of the parameters. `check` refuses parameters that are impossible in
    combination. Whole numbers have the type `dtype`; it is None for real numbers. `outside` is the
    effect of parameters outside their supports, for a warning.
    """

    name: str
    parameters: tuple[Parameter, ...]
    _: KW_ONLY
    draw: Callable[..., Any] | None = None
    event_ndim: int = 0
    event_shape: Callable[..., tuple[int, ...]] = lambda *shapes: ()
    check: Callable[..., None] | None = None
    dtype: np.dtype | None = None
    outside: str = "values outside have density 0, so chains get stuck"

    def check_values(
        self, nodes: Sequence[Node], drawn: np.dtype | None = None, shape: Any = None
    ) -> None:
        """Check the known parameters.

        `drawn` is the type of real numbers in a draw; it is None for an unknown. `shape` is the
        user's shape of all numbers, for messages.

        Raises
        ------
        ValueError
            If a parameter is outside its support, or is so after conversion to the type `drawn`.
        ShapeError
            If a parameter has too few axes.
        """
        for parameter, node in zip(self.parameters, nodes, strict=True):
            if len(node.shape) < parameter.event_ndim:
                name = dict.fromkeys((parameter.name, describe(node)))
                hint = self._swap_hint(parameter, node, nodes)
                raise ShapeError(
                    f"{self.name}: {' '.join(name)} needs at least "
                    f"{parameter.event_ndim} {'axis' if parameter.event_ndim == 1 else 'axes'}, "
                    f"got shape {node.shape}{place_text()}"
                    f"{hint or _vector_hint(parameter, node, shape)}"
                )
            if drawn is not None and parameter.integer and node.dtype.kind not in "iub":
                raise SymbolicError(
                    f"{self.name}: {parameter.name} {describe(node)} must be whole numbers, got "
                    f"{node.dtype}{place_text()}"
                )
        if self.check is not None:
            self.check(*nodes)
        for parameter, node in zip(self.parameters, nodes, strict=True):
            if isinstance(node, Data):
                self._check_known(parameter, node, drawn, nodes)

    def _swap_hint(self, parameter: Parameter, node: Node, nodes: Sequence[Node]) -> str:
        """The order of the parameters, if two of them are swapped."""
        for other, given in zip(self.parameters, nodes, strict=True):
            fits = len(given.shape) == parameter.event_ndim and len(node.shape) == other.event_ndim
            if fits and other.event_ndim < parameter.event_ndim:
                return f"; the order is {', '.join(each.name for each in self.parameters)}"
        return ""

    def _check_known(
        self, parameter: Parameter, node: Data, drawn: np.dtype | None, nodes: Sequence[Node]
    ) -> None:
        support, value, note = parameter.support, np.asarray(node.value), ""
        if drawn is not None:
            support = parameter.drawn or support
        with np.errstate(invalid="ignore"):
            inside = support.contains(value)
        if np.all(inside) and drawn is not None and not parameter.integer:
            with np.errstate(over="ignore", invalid="ignore"):
                inside, note = support.contains(value.astype(drawn)), f" ({drawn})"
        if np.all(inside):
            return
        place = tuple(int(i) for i in np.argwhere(~np.asarray(inside))[0])
        holder = variable_of(node) or node.variable if node.literal else describe(node)
        missing = f"; {ADVICE}" if np.isnan(value[place]).any() else ""
        raise ValueError(
            f"{self.name}: {parameter.name} must be {support.describe()}, "
            f"got {value[place]}{note}{index_text(place)}{f' in {holder}' if holder else ''}"
            f"{place_text()}{missing}{_sum_hint(support, value)}"
            f"{_sorted_hint(support, value, holder or '')}"
            f"{self._order_hint(nodes)}"
        )

    def _order_hint(self, nodes: Sequence[Node]) -> str:
        """The order of the parameters, if another order fits."""
        values = [value for node in nodes if (value := _possible(node)) is not None]
        if len(values) < len(nodes) or not 2 <= len(nodes) <= _PERMUTED:
            return ""
        if any(parameter.event_ndim for parameter in self.parameters):
            return ""
        fits = any(
            all(
                np.all(p.support.contains(np.asarray(value)))
                for p, value in zip(self.parameters, order, strict=True)
            )
            for order in permutations(values)
        )
        names = ", ".join(parameter.name for parameter in self.parameters)
        if self.name in _BY_MEAN and not fits:
            return f"; the values are {self.name}({names}), or by the mean {_BY_MEAN[self.name]}"
        return f"; the order of the values is {self.name}({names})" if fits else ""

    def check_unknowns(self, nodes: Sequence[Node]) -> None:
        """Check the parameters that are unknowns.

        Warns of unbounded unknowns as bounded parameters, and of unordered ones as increasing ones.

        Raises
        ------
        ModelError
            If an unknown whose elements do not add up to 1 is used as probabilities, or one that
            may be negative as weights.
        """
        for parameter, node in zip(self.parameters, nodes, strict=True):
            if isinstance(parameter.support, (Simplex, Weights)):
                self._check_sum(parameter, node)
            elif isinstance(parameter.support, Ordered):
                self._warn_of_order(parameter, node)
            else:
                self._warn_of_unbounded(parameter, node, nodes)

    def _check_sum(self, parameter: Parameter, node: Node) -> None:
        support = getattr(node, "support", None)
        if not isinstance(support, (Interval, Ordered, ZeroSum)):
            return
        title, size = describe(node), node.shape[-1]
        positive = isinstance(support, Interval) and np.all(~support.contains(np.array(-1e-9)))
        if isinstance(parameter.support, Weights) and positive:
            return
        fault = f"nothing makes the elements of {title}{site_text(node)} add up to 1"
        if isinstance(parameter.support, Weights):
            fault = f"the elements of {title}{site_text(node)} may be negative"
        total = "sum()" if len(node.shape) == 1 else "sum(-1, keepdims=True)"
        way = f"{title} / {title}.{total}" if positive else f"kg.softmax({title})"
        raise ModelError(
            f"{self.name}: {parameter.name} must be {parameter.support.describe()}, and {fault}"
            f"{place_text()}; write an unknown kg.dirichlet([{', '.join(['1.0'] * min(size, 3))}"
            f"{', ...' if size > 3 else ''}]), or {way}"
        )

    def _warn_of_order(self, parameter: Parameter, node: Node) -> None:
        if not isinstance(getattr(node, "support", None), Interval) or node.shape[-1] < 2:
            return
        title = describe(node)
        warn_user(
            f"{self.name}: {parameter.name} must be {parameter.support.describe()}, and the "
            f"elements of {title}{site_text(node)} may have any order{place_text()}: other orders "
            f"have density 0, so chains get stuck; write an unknown "
            f"kg.ordered_variable({node.shape[-1]}), with a prior by kg.factor",
            KinetographWarning,
        )

    def _warn_of_unbounded(self, parameter: Parameter, node: Node, nodes: Sequence[Node]) -> None:
        allowed = parameter.support
        if not isinstance(allowed, Interval):
            return
        low, high = (bool(np.all(allowed.contains(np.array(v)))) for v in (-1.0, 2.0))
        if low and high:
            return
        below, above, *_ = values_of(node)
        bounded = range_of(node)
        if bounded is not None:
            below, above = _beyond(allowed, bounded)
        if not (below and not low) and not (above and not high):
            return
        title, way = describe(node), "kg.ilogit({}), or an unknown such as kg.beta(1, 1)"
        if high:
            way = "kg.exp({}), or an unknown such as kg.half_normal(1)"
        elif isinstance(node, Apply) and node.operation.name == "exp":
            way = way.format(describe(node.parents[0]))
        elif not below or (bounded is not None and isinstance(node, Apply)):
            way = (
                way.replace("({})", " of a real number")
                if isinstance(node, Apply)
                else way.partition("or ")[2]
            )
        values = f"above {allowed.upper:g}" if above else "negative"
        if below and above:
            values = "any real number"
        if bounded is not None:
            values = f"between {bounded[0]:g} and {bounded[1]:g}"
        warn_user(
            f"{self.name}: {parameter.name} must be {allowed.describe()}, and {title} may be "
            f"{values}{place_text()}: {self.outside}; write "
            f"{way.format(title)}{self._order_hint(nodes)}",
            KinetographWarning,
        )

    def full_shape(
        self, nodes: Sequence[Node], shape: Any = None, event: tuple[int, ...] | None = None
    ) -> tuple[int, ...]:
        """The shape of all numbers, event axes included.

        `shape` is the user's; it may include the event axes or not.

        Raises
        ------
        ShapeError
            If the shapes of the parameters do not fit together, or do not fit `shape`.
        """
        shapes = [node.shape for node in nodes]
        event = self.event_shape(*shapes) if event is None else event
        pairs = zip(shapes, self.parameters, strict=True)
        batches = [s[: len(s) - p.event_ndim] for s, p in pairs]
        try:
            batch = np.broadcast_shapes(*batches)
        except ValueError:
            raise ShapeError(
                f"{self.name}: the parameters do not fit together: {self._named(nodes)}"
                f"{place_text()}"
            ) from None
        natural = (*batch, *event)
        if shape is None:
            return natural
        requested = shape_of(shape, self.name)
        if event and requested[len(requested) - len(event) :] != event:
            requested = (*requested, *event)  # `shape` is that of the replicates
        try:
            fits = np.broadcast_shapes(requested, natural) == requested
        except ValueError:
            fits = False
        if not fits:
            raise ShapeError(
                f"{self.name}: shape {requested} does not fit the parameters: "
                f"{self._named(nodes) or 'none'}{place_text()}"
            )
        return requested

    def _named(self, nodes: Sequence[Node]) -> str:
        pairs = zip(self.parameters, nodes, strict=True)
        return ", ".join(f"{p.name} {describe(node)} of shape {node.shape}" for p, node in pairs)


def _beyond(allowed: Interval, bounded: tuple[float, float]) -> tuple[bool, bool]:
    """Whether values of a range are below, and above, an interval."""
    low, high = bounded
    margin = NEAR * (high - low)
    inside = (np.all(allowed.contains(np.array(v))) for v in (low + margin, high - margin))
    below, above = (not each for each in inside)
    return below, above


def shape_of(shape: Any, title: str) -> tuple[int, ...]:
    """The user's `shape=` as a tuple."""
    sizes = (shape,) if isinstance(shape, (int, np.integer)) else shape
    if not isinstance(sizes, (tuple, list)) or not all(
        isinstance(n, (int, np.integer)) and not isinstance(n, bool) for n in sizes
    ):
        parts = sizes if isinstance(sizes, (tuple, list)) else (sizes,)
        named = any(isinstance(n, (str, Dim)) for n in parts)
        hint = "; dims and names of axes are given by dims=" if named else ""
        unknown = any(isinstance(n, Array) for n in parts)
        if len(parts) == 1 and isinstance(getattr(parts[0], "dim", None), Dim):  # of kg.groups
            hint = f"; one for each group is dims={variable_name(parts[0]) or 'groups'}.dim"
        if unknown:
            hint = "; shapes must be known before values: use the largest one, and kg.where"
        raise TypeError(
            f"{title}: shape must be a whole number or a tuple of them, got {shown(shape)}"
            f"{place_text()}{hint}"
        )
    if any(n < 0 for n in sizes):
        raise ShapeError(f"{title}: shape {tuple(sizes)} has a negative length{place_text()}")
    return tuple(int(n) for n in sizes)


def _sum_hint(support: Support, value: np.ndarray) -> str:
    """The way from numbers in proportion to probabilities."""
    shares = isinstance(support, Simplex) and np.all(Weights().contains(value))
    square = value.ndim > 1 and value.shape[-1] == value.shape[-2]
    if shares and square and np.all(support.contains(np.swapaxes(value, -1, -2))):
        return "; its columns have sum 1: give the transpose"
    return "; divide by the sum" if shares else ""


def _possible(node: Node) -> np.ndarray | None:
    """Known values, or the ends of the range of an unknown."""
    if isinstance(node, Data):
        return node.value
    ends = [getattr(getattr(node, "support", None), end, None) for end in ("lower", "upper")]
    if not all(isinstance(end, (int, float)) for end in ends):
        return None
    low, high = np.clip(np.array(ends, float), -1e9, 1e9)
    return np.array([low + 1e-6 * (high - low), high - 1e-6 * (high - low)])


def _sorted_hint(support: Support, value: np.ndarray, holder: str) -> str:
    """The way from numbers out of order to increasing ones."""
    if not isinstance(support, Ordered) or not np.isfinite(value).all():
        return ""
    if np.all(support.contains(np.sort(value, axis=-1))):
        return f"; write {f'np.sort({holder})' if holder else 'them in increasing order'}"
    return "; each number must be above the one before it: leave out equal ones"


def _vector_hint(parameter: Parameter, node: Node, shape: Any) -> str:
    """The vector that a single number in its place may mean."""
    if parameter.event_ndim != 1:
        return ""
    sizes = shape if isinstance(shape, (tuple, list)) else (shape,)
    if sizes and isinstance(sizes[-1], int) and parameter.support is POSITIVE:
        if isinstance(node, Data):
            vector = f"np.full({sizes[-1]}, {float(node.value):.6})"
        else:
            vector = f"{describe(node)} * np.ones({sizes[-1]})"
        return f"; the length of a vector is that of {parameter.name}: write {vector}"
    n = float(node.value) if isinstance(node, Data) else 0.0
    if not (n.is_integer() and 2 <= n <= _LONGEST):
        if parameter.support is POSITIVE:
            return "; give one number for each element, such as np.ones(3)"
        return ""
    count = int(n)
    if isinstance(parameter.support, Simplex):
        return f"; {count} equal numbers are np.full({count}, 1 / {count})"
    return f"; a vector of {count} ones is np.ones({count})"
