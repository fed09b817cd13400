"""Derivatives of the sides of `where`, only where the side is taken.

The same holds for values that are computed outside of branches and loops and read only inside them.
The readers report in the backward pass whether they read a value (see `participation`).

`where(x > 0, sqrt(x), 0)` sends a cotangent of 0 into the root where x <= 0. There the slope of the
root is infinite, and 0 times infinity is NaN. So a side reads its inputs through `where(taken, x,
stop_gradient(x))`: the value is the same, and the derivative is a chosen 0 instead of a product.
XLA simplifies the expression to x where no derivative is taken.

A side contains the elementwise operations that lead to it and, if the condition is a single value,
all operations, branches and loops that lead to it. A value that is also used elsewhere is computed
once, and its other uses contribute their derivative. An operation is *active* where one of its
users is. The choice is inserted at an edge between operations that are active in different places,
unless the operations above the edge turn a cotangent of 0 into 0 in any case.

The results of one branch or loop can be active in different places. If its derivative may be
infinite, it is then computed once for each group of results, with the derivative of that group.
"""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from ..control.control_node import Control
from ..node import PART, Apply, Data, Node
from ..operations.elementwise import WHERE
from .participation import Tracked, hand, track
from .paths import ALWAYS, LATE, Path, Paths, late_paths, united
from .slopes import is_clean, is_finite

if TYPE_CHECKING:
    from ..control.liveness import Places

__all__ = ["Sides", "surely_read"]

REVERSE = "reverse"
_TIMES = 3  # largest number of computations of one branch or loop


@dataclass(frozen=True, eq=False)
class _Twin:
    """A second computation of a branch or loop for some results.

    These results are active in other places than the remaining ones.
    """

    node: Control
    places: "Places"
    tracks = True

    @property
    def parents(self) -> tuple[Node, ...]:
        return self.node.parents


class Sides:
    """The nodes and edges that belong to sides of a `where`.

    Parameters
    ----------
    order
        The nodes that are evaluated, parents first.
    wanted
        The nodes that are also used outside of this evaluation.
    tracked
        Inputs whose users report whether the input took part in the result.
    modes
        The derivatives that are being taken; see `control.derivable`. In reverse mode, branches and
        loops report which inputs took part.
    live
        The results of branches and loops that take part in the derivatives; None for all results.
    """

    def __init__(
        self,
        order: Sequence[Node],
        outputs: Iterable[Node],
        tracked: Iterable[Node],
        modes: Sequence[str],
        live: "Mapping[Any, Places] | None",
    ) -> None:
        self.order = order
        self.inside = set(order)
        self.tracked = set(tracked)
        self.late = REVERSE in modes
        self.again = len(modes) > 1
        self.live = live
        self.twins: dict[Node, list[_Twin]] = {}  # of a branch or loop
        self._of_part: dict[Node, _Twin] = {}
        self._sure: dict[Any, Places] = {}
        self.cone = self._conditions()
        self.paths = self._paths(set(outputs))
        self.edges = self._edges()
        self.tokens: dict[Any, dict[int, Any]] = {}  # by node: the tokens of its inputs
        self._taken: dict[tuple[Paths, tuple[int, ...]], Any] = {}
        self._values: dict[Node, Any] = {}

    @staticmethod
    def among(
        order: Sequence[Node],
        outputs: Iterable[Node],
        environment: dict[Node, Any],
        modes: Sequence[str],
        live: "Mapping[Any, Places] | None",
    ) -> "Sides | None":
        """Return the sides among the nodes.

        None if no edge needs a choice.
        """
        reverse = REVERSE in modes
        if not any(_is(n, WHERE) or (reverse and _tracks(n)) for n in order):
            return None
        parents = {p for n in order for p in n.parents}
        tracked = [n for n in parents if isinstance(environment.get(n), Tracked)]
        sides = Sides(order, outputs, tracked, modes, live)
        return sides if sides.edges else None

    def masked(self) -> list[Node]:
        """The nodes that are active in some places only.

        Their tensors must not be used outside of this evaluation.
        """
        return [node for node, paths in self.paths.items() if paths and paths != ALWAYS]

    def _conditions(self) -> set[Node]:
        """The conditions of all `where` operations, with their ancestors."""
        conditions = {n.parents[0] for n in self.order if _is(n, WHERE)}
        for node in reversed(self.order):
            if node in conditions:
                conditions.update(node.parents)
        return conditions & self.inside

    def _paths(self, outputs: set[Node]) -> dict[Node, Paths]:
        """The paths on which each node is active.

        Nodes that carry no derivative have none.
        """
        used: dict[Node, set[Path]] = {}
        paths: dict[Any, Paths] = {}
        parts: dict[Node, list[Apply]] = {}
        self.used = used  # the paths of the users of a node
        for node in reversed(self.order):
            if node.dtype.kind not in "fV":
                continue  # no derivative goes through it
            paths_of_node = ALWAYS if node in outputs else united(used.get(node, ()))
            if not _is_plain(node):
                paths_of_node = paths_of_node if self._is_whole(node, paths_of_node) else ALWAYS
            paths[node] = paths_of_node
            if isinstance(node, Apply) and node.operation is PART:
                parts.setdefault(node.parents[0], []).append(node)
            if node not in outputs:
                paths |= self._apart(node, parts.get(node, ()), paths)
            for one in (node, *self.twins.get(node, ())):
                for i, parent in enumerate(node.parents):
                    if parent.dtype.kind in "fV":
                        handed = self._handed(paths[one], one, i)
                        used.setdefault(parent, set()).update(handed)
        return paths

    def _apart(
        self, node: Node, parts: Sequence[Apply], paths: Mapping[Any, Paths]
    ) -> dict[Any, Paths]:
        """The paths of a branch or loop and of its twins.

        Empty if no twins are needed.
        """
        groups: dict[Paths, set[int]] = {}
        for part in parts:
            if paths[part]:
                groups.setdefault(paths[part], set()).add(part.attributes["place"])
        several = self.late and self.live is not None and 1 < len(groups) <= _TIMES
        if not several or not isinstance(node, Control) or not _tracks(node) or is_finite(node):
            return {}
        first = ALWAYS if ALWAYS in groups else next(iter(groups))
        if not all(g == ALWAYS or self._is_whole(node, g) for g in groups):
            return {}
        self.twins[node] = []
        all_paths: dict[Any, Paths] = {node: first}
        for group, places in groups.items():
            if group != first:
                twin = _Twin(node, frozenset(places))
                self.twins[node].append(twin)
                all_paths[twin] = group
                self._of_part |= {p: twin for p in parts if p.attributes["place"] in places}
        return all_paths

    def places(self, node: Any) -> "Places | None":
        """The results of a node that take part in derivatives.

        The node is a branch, loop or twin; None stands for all results.
        """
        if isinstance(node, _Twin):
            return node.places
        places = None if self.live is None else self.live.get(node, frozenset())
        for twin in self.twins.get(node, ()):
            assert places is not None
            places = places - twin.places
        return places

    def _is_whole(self, node: Node, paths: Paths) -> bool:
        """Whether a node lies on these paths as a whole.

        The node is not elementwise.
        """
        choices = [choice for path in paths for choice in path]
        if node in self.cone or any(w.parents[0].size != 1 for w, side in choices if side != LATE):
            return False
        if isinstance(node, Apply) and node.operation is not PART:
            return True
        return _tracks(node.parents[0] if isinstance(node, Apply) else node)

    def _edges(self) -> dict[tuple[Node, int], Paths]:
        """The operands that need a choice, with their paths.

        The keys are a node and the place of the operand.
        """
        edges: dict[tuple[Node, int], Paths] = {}
        spoilt: set[Node] = set()  # nodes whose cotangent may be NaN where they are not active
        for node in reversed(self.order):
            node_paths = self.paths.get(node)
            if not node_paths:
                continue
            if not isinstance(node, Apply):
                moving = [i for i, p in enumerate(node.parents) if _moves(p)]
                for one in (node, *self.twins.get(node, ())):
                    if self.paths[one] != ALWAYS:
                        edges |= {(one, i): self.paths[one] for i in moving}
                continue
            clean = node_paths == ALWAYS or (node not in spoilt and is_clean(node))
            for i, parent in enumerate(node.parents):
                handed = self._handed(node_paths, node, i)
                if parent in self.tracked and handed != ALWAYS:
                    edges[node, i] = handed
                    continue
                if clean or not _moves(parent):
                    continue
                same = self.paths.get(parent) == handed and parent.shape == node.shape
                if same and not _is(parent, PART):
                    spoilt.add(parent)
                else:
                    edges[node, i] = handed
        return edges

    def _handed(self, paths: Paths, node: Any, place: int) -> Paths:
        """The paths on which the operand at a place is active.

        `paths` are the paths of the node.
        """
        if place and _is(node, WHERE):
            side = int(place == 1)
        elif self.late and _tracks(node) and place not in self._surely_reads(node):
            side = LATE
        else:
            return paths
        return frozenset((*path, (node, side)) for path in paths)

    def _surely_reads(self, node: Any) -> "Places":
        if node not in self._sure:
            whole = node.node if isinstance(node, _Twin) else node
            self._sure[node] = frozenset(whole.surely_reads(self.places(node)))
        return self._sure[node]

    @property
    def guards(self) -> dict[Node, set[Node]]:
        """The operations on which the choices at a node's operands depend."""
        conditions: dict[Node, set[Node]] = {}
        for (node, _), paths in self.edges.items():
            conditions.setdefault(node, set()).update(w for path in paths for w, _ in path)
        return conditions

    def leave(self, nodes: Container[Node]) -> None:
        """Make no choices at these nodes, which are computed in another way."""
        self.edges = {key: paths for key, paths in self.edges.items() if key[0] not in nodes}

    def prepare(
        self,
        environment: dict[Node, Any],
        evaluate: Callable[[Iterable[Node]], Any],
        lower: Callable[[Apply, dict[Node, Any]], Any],
    ) -> None:
        """Compute the values of the conditions before all other nodes.

        The elementwise operations that lead to a condition are computed here a second time. No
        derivative is taken of these copies, so that they need no choice.
        """
        choices = {choice for paths in self.edges.values() for path in paths for choice in path}
        cone = {where.parents[0] for where, side in choices if side != LATE}
        for node in reversed(self.order):
            if node in cone and _is_plain(node):
                cone.update(node.parents)
        evaluate([n for n in self.order if n in cone and not _is_plain(n)])
        self._values = {n: environment[n] for n in cone if n in environment}
        for node in self.order:
            if node in cone and node not in self._values:
                assert isinstance(node, Apply)
                self._values[node] = lower(node, self._values)

    def operands(self, node: Any, tensors: list[Any]) -> list[Any]:
        """The tensors of a node's parents, with choices inserted for this node."""
        if _tracks(node):
            handed = map(self._with_tokens, node.parents, tensors)
            return [self._given(node, i, tensor) for i, tensor in enumerate(handed)]
        if self.paths.get(node, ALWAYS) == ALWAYS and not _is(node, WHERE):
            return tensors  # the usual case
        makers = [self._of_part.get(node, parent) for parent in node.parents]
        tokens = {k: token for p in makers for k, token in self.tokens.get(p, {}).items()}
        chosen = []
        for i, tensor in enumerate(tensors):
            if paths := self.edges.get((node, i)):
                tensor, token = self._chosen(node, tensor, paths)
                tokens |= {id(token): token} if token is not None else {}
            chosen.append(tensor)
        if tokens:
            self.tokens[node] = tokens
        return chosen

    def _given(self, node: Node, place: int, tensor: Any) -> Any:
        """An input of a branch or loop.

        It takes part at most where its path is taken.
        """
        paths = self.edges.get((node, place))
        if not paths:
            return tensor
        late = late_paths(paths)
        now = self._mask(paths - late, ())
        if late:
            # The input takes part if it is read and a result that depends on it takes part.
            part = tensor.token if isinstance(tensor, Tracked) else tensor
            part, token = track(part, now, self._mask(late, ()))
            self.tokens.setdefault(node, {})[id(token)] = token
            return Tracked(tensor.value, part) if isinstance(tensor, Tracked) else part
        if isinstance(tensor, Tracked):
            return track(tensor, np.bool_(False), now)
        tensor = jnp.asarray(tensor)
        return jnp.where(now, tensor, jax.lax.stop_gradient(tensor))

    def _with_tokens(self, node: Node, tensor: Any) -> Any:
        """An input of a branch or loop, with its tokens.

        The tokens report whether it took part.
        """
        tokens = list(self.tokens.get(node, {}).values())
        if tokens and isinstance(tensor, Tracked):
            tensor, token = tensor
            tokens.append(token)
        return hand(tensor, tokens, self.again) if tokens else tensor

    def _chosen(self, node: Node, tensor: Any, paths: Paths) -> tuple[Any, Any]:
        """An operand with its choice.

        There is a token if a part of the choice is known late.
        """
        shape = node.shape if _is_plain(node) else ()
        late = late_paths(paths)
        now = self._mask(paths - late, shape)
        if late or isinstance(tensor, Tracked):
            value, token = track(tensor, now, self._mask(late, shape))
            return value, token if late else None
        tensor = jnp.asarray(tensor)
        return jnp.where(now, tensor, jax.lax.stop_gradient(tensor)), None

    def _mask(self, paths: Paths, shape: tuple[int, ...]) -> Any:
        """The mask of an array, true where a path is taken."""
        if not paths:
            return np.bool_(False)
        key = (paths, shape)
        if key not in self._taken:
            masks = [self._path(path, shape) for path in paths]
            whole = masks[0]
            for mask in masks[1:]:
                whole = whole | mask
            self._taken[key] = whole
        return self._taken[key]

    def _path(self, path: Path, shape: tuple[int, ...]) -> Any:
        whole: Any = None
        for node, side in path:
            if side != LATE:
                condition = jnp.asarray(self._values[node.parents[0]]).astype(bool) == side
                whole = condition if whole is None else whole & condition
        if whole is None:
            return np.bool_(True)
        if not shape:
            return whole.any()
        # An element that is broadcast is active where one of its copies is.
        ndim = max(whole.ndim, len(shape))
        whole = whole.reshape((1,) * (ndim - whole.ndim) + whole.shape)
        padded = (1,) * (ndim - len(shape)) + shape
        over = tuple(i for i, n in enumerate(padded) if n == 1 and whole.shape[i] != 1)
        if over:
            whole = whole.any(over, keepdims=True)
        return whole.reshape(whole.shape[ndim - len(shape) :])


def surely_read(
    nodes: Sequence[Node], outputs: Iterable[Node], live: "Mapping[Any, Places]"
) -> set[Node]:
    """The nodes whose values are used in any case.

    The case is which sides, branches and loops are taken.

    A node that is only passed on unchanged, as an output, does not count as used.
    """
    operations = [node for node in outputs if isinstance(node, Apply)]
    sides = Sides(nodes, operations, (), (REVERSE,), live)
    return {node for node, paths in sides.used.items() if united(paths) == ALWAYS}


def _tracks(node: Node) -> bool:
    """Whether a node is a branch or loop that reports readings."""
    return node.tracks


def _moves(node: Node) -> bool:
    """Whether a derivative may pass through a node."""
    return node.dtype.kind == "f" and not isinstance(node, Data)


def _is_plain(node: Node) -> bool:
    return isinstance(node, Apply) and node.operation.elementwise


def _is(node: Any, operation: Any) -> bool:
    return isinstance(node, Apply) and node.operation is operation
