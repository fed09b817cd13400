"""What is computed for one side of a `where` has a derivative only where that side is taken.

So has what is computed outside of branches and loops and read in them alone, be it by other ones:
they tell in the backward pass what they read (see `participation`).

`where(x > 0, sqrt(x), 0)` sends a cotangent of 0 into the root where x <= 0, and 0 times the
infinite slope there is NaN. So what a side is computed from is seen by it through
`where(taken, x, stop_gradient(x))`: the value is the same, the derivative 0, chosen and not
multiplied. XLA makes x of it again where no derivative is taken.

A side reaches up through operations on single elements and, where the condition is a single value,
through all operations, branches and loops. What is used elsewhere, too, is computed once
and has the derivative of its other uses. Each operation is *active* where one of its users is; an
edge between operations that are not active in the same places carries the choice, unless nothing
above it can have made more of the cotangent 0 than 0.

A branch or loop has several results, which may be active in other places. Where its derivative may
be infinite it is then computed once for each of these, with the derivative of some results alone.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from ..control.control import Control, everything
from ..node import PART, Apply, Data, Node
from ..operations.elementwise import CAST, ELEMENTWISE, INTEGER_POWER, STOP_GRADIENT, WHERE
from ..operations.indexing import READ, READ_CHECKED, WRITE, WRITE_CHECKED
from .participation import Tracked, hand, track

if TYPE_CHECKING:
    from ..control.liveness import Places

__all__ = ["Sides", "surely_read"]

# Choices that are all made: a where and its side, or a branch or loop that reads it.
Path = tuple[tuple[Node, int], ...]  # outermost first
REVERSE = "reverse"
LATE = -1  # in the place of a side: known when the branch or loop has been run
Paths = frozenset[Path]  # alternatives
ALWAYS: Paths = frozenset({()})
MOST = 8  # alternatives that are told apart

_LINEAR = "add subtract negative positive absolute fabs sign rint floor ceil trunc"
_LINEAR += " maximum minimum fmax fmin"
# Operations that make 0 out of a cotangent of 0, whatever the operands are.
CLEAN = {ELEMENTWISE[name] for name in _LINEAR.split()} | {WHERE, CAST, STOP_GRADIENT}
SCALED = {ELEMENTWISE[name] for name in ("multiply", "divide")}
_FINITE = "multiply square sin cos tanh exp expm1 arctan sinh cosh"
# Operations whose slopes are finite where their operands and results are.
FINITE = CLEAN | {ELEMENTWISE[name] for name in _FINITE.split()}
FINITE |= {PART, READ, READ_CHECKED, WRITE, WRITE_CHECKED}
_WHOLE = "sum matmul reshape transpose broadcast_to concatenate stack repeat"
_FINITE_WHOLE = frozenset(_WHOLE.split())
_TIMES = 3  # that a branch or loop is computed at most


@dataclass(frozen=True, eq=False)
class _Twin:
    """A branch or loop, computed once more for results that are active in other places."""

    node: Control
    places: "Places"
    tracks = True

    @property
    def parents(self) -> tuple[Node, ...]:
        return self.node.parents


class Sides:
    """The nodes and edges, of some that are evaluated together, that belong to sides of a where.

    Parameters
    ----------
    order
        What is evaluated, parents first.
    wanted
        What is also used by others.
    tracked
        Inputs whose users tell whether they took part.
    modes
        The derivatives that are being taken; see `control.derivable`. In reverse ones branches and
        loops are asked what took part.
    live
        Which results of branches and loops take part in them; None for all.
    """

    def __init__(
        self,
        order: Sequence[Node],
        wanted: Iterable[Node],
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
        self.paths = self._paths(set(wanted))
        self.edges = self._edges()
        self.tokens: dict[Any, dict[int, Any]] = {}  # of what a node is computed from
        self._taken: dict[tuple[Paths, tuple[int, ...]], Any] = {}
        self._values: dict[Node, Any] = {}

    @staticmethod
    def among(
        order: Sequence[Node],
        wanted: Iterable[Node],
        environment: dict[Node, Any],
        modes: Sequence[str],
        live: "Mapping[Any, Places] | None",
    ) -> "Sides | None":
        """Those of the nodes; None if there are none to care for."""
        reverse = REVERSE in modes
        if not any(_is(n, WHERE) or (reverse and _tracks(n)) for n in order):
            return None
        parents = {p for n in order for p in n.parents}
        tracked = [n for n in parents if isinstance(environment.get(n), Tracked)]
        sides = Sides(order, wanted, tracked, modes, live)
        return sides if sides.edges else None

    def masked(self) -> list[Node]:
        """What is active in some places only: nobody else may use it."""
        return [node for node, paths in self.paths.items() if paths and paths != ALWAYS]

    def _conditions(self) -> set[Node]:
        """What the conditions are computed from, and they themselves."""
        found = {n.parents[0] for n in self.order if _is(n, WHERE)}
        for node in reversed(self.order):
            if node in found:
                found.update(node.parents)
        return found & self.inside

    def _paths(self, wanted: set[Node]) -> dict[Node, Paths]:
        """Where each node that can be active in some places only is active."""
        used: dict[Node, set[Path]] = {}
        paths: dict[Any, Paths] = {}
        parts: dict[Node, list[Apply]] = {}
        self.used = used  # where the users of a node are
        for node in reversed(self.order):
            if node.dtype.kind not in "fV":
                continue  # no derivative goes through it
            own = ALWAYS if node in wanted else _united(used.get(node, ()))
            if not _is_plain(node):
                own = own if self._is_whole(node, own) else ALWAYS
            paths[node] = own
            if isinstance(node, Apply) and node.operation is PART:
                parts.setdefault(node.parents[0], []).append(node)
            if node not in wanted:
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
        """Where a branch or loop and its twins are active, if it gets some."""
        groups: dict[Paths, set[int]] = {}
        for part in parts:
            if paths[part]:
                groups.setdefault(paths[part], set()).add(part.attributes["place"])
        several = self.late and self.live is not None and 1 < len(groups) <= _TIMES
        if not several or not isinstance(node, Control) or not _tracks(node) or _is_finite(node):
            return {}
        first = ALWAYS if ALWAYS in groups else next(iter(groups))
        if not all(g == ALWAYS or self._is_whole(node, g) for g in groups):
            return {}
        self.twins[node] = []
        found: dict[Any, Paths] = {node: first}
        for own, places in groups.items():
            if own != first:
                twin = _Twin(node, frozenset(places))
                self.twins[node].append(twin)
                found[twin] = own
                self._of_part |= {p: twin for p in parts if p.attributes["place"] in places}
        return found

    def places(self, node: Any) -> "Places | None":
        """The results of a branch, loop or twin that take part in derivatives; None for all."""
        if isinstance(node, _Twin):
            return node.places
        places = None if self.live is None else self.live.get(node, frozenset())
        for twin in self.twins.get(node, ()):
            assert places is not None
            places = places - twin.places
        return places

    def _is_whole(self, node: Node, paths: Paths) -> bool:
        """Whether all of a node, which is no operation on single elements, is on these paths."""
        choices = [choice for path in paths for choice in path]
        if node in self.cone or any(w.parents[0].size != 1 for w, side in choices if side != LATE):
            return False
        if isinstance(node, Apply) and node.operation is not PART:
            return True
        return _tracks(node.parents[0] if isinstance(node, Apply) else node)

    def _edges(self) -> dict[tuple[Node, int], Paths]:
        """The operands that are to be chosen, by the node and their place, and where."""
        edges: dict[tuple[Node, int], Paths] = {}
        spoilt: set[Node] = set()  # where not active, the cotangent may be NaN
        for node in reversed(self.order):
            own = self.paths.get(node)
            if not own:
                continue
            if not isinstance(node, Apply):
                moving = [i for i, p in enumerate(node.parents) if _moves(p)]
                for one in (node, *self.twins.get(node, ())):
                    if self.paths[one] != ALWAYS:
                        edges |= {(one, i): self.paths[one] for i in moving}
                continue
            clean = own == ALWAYS or (node not in spoilt and _is_clean(node))
            for i, parent in enumerate(node.parents):
                handed = self._handed(own, node, i)
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
        """Where the operand of a node at a place is active, if the node is on these paths."""
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

    def prepare(
        self,
        environment: dict[Node, Any],
        evaluate: Callable[[Iterable[Node]], Any],
        lower: Callable[[Apply, dict[Node, Any]], Any],
    ) -> None:
        """Compute the conditions, for their values alone, before what depends on them.

        What they are computed from by single elements is computed here for itself: of this no
        derivative is taken, so nothing has to be chosen in it.
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
        """The tensors of a node's parents as the node may see them."""
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
        """What a branch or loop is given: it takes part where that is on its path, at most."""
        paths = self.edges.get((node, place))
        if not paths:
            return tensor
        late = _late(paths)
        now = self._mask(paths - late, ())
        if late:
            # It takes part where it is read and, after that, a result is.
            part = tensor.token if isinstance(tensor, Tracked) else tensor
            part, token = track(part, now, self._mask(late, ()))
            self.tokens.setdefault(node, {})[id(token)] = token
            return Tracked(tensor.value, part) if isinstance(tensor, Tracked) else part
        if isinstance(tensor, Tracked):
            return track(tensor, np.bool_(False), now)
        tensor = jnp.asarray(tensor)
        return jnp.where(now, tensor, jax.lax.stop_gradient(tensor))

    def _with_tokens(self, node: Node, tensor: Any) -> Any:
        """What a branch or loop is given, to tell whether it took part."""
        tokens = list(self.tokens.get(node, {}).values())
        if tokens and isinstance(tensor, Tracked):
            tensor, own = tensor
            tokens.append(own)
        return hand(tensor, tokens, self.again) if tokens else tensor

    def _chosen(self, node: Node, tensor: Any, paths: Paths) -> tuple[Any, Any]:
        """An operand, and the token of what is known late."""
        shape = node.shape if _is_plain(node) else ()
        late = _late(paths)
        now = self._mask(paths - late, shape)
        if late or isinstance(tensor, Tracked):
            value, token = track(tensor, now, self._mask(late, shape))
            return value, token if late else None
        tensor = jnp.asarray(tensor)
        return jnp.where(now, tensor, jax.lax.stop_gradient(tensor)), None

    def _mask(self, paths: Paths, shape: tuple[int, ...]) -> Any:
        """Where one of the paths is taken, for each element of an array of this shape."""
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
        # An element that is used for several others is active where one of these is.
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
    """Whose value is used whatever sides, branches and loops are taken among the nodes.

    To be passed on unchanged, as an output, is no use.
    """
    wanted = [node for node in outputs if isinstance(node, Apply)]
    sides = Sides(nodes, wanted, (), (REVERSE,), live)
    return {node for node, paths in sides.used.items() if _united(paths) == ALWAYS}


def _late(paths: Paths) -> Paths:
    """Those of which is known late whether they are taken."""
    return frozenset(p for p in paths if any(side == LATE for _, side in p))


def _tracks(node: Node) -> bool:
    """Whether it is a branch or loop that tells what it read."""
    return node.tracks


def _moves(node: Node) -> bool:
    """Whether a derivative may go through it."""
    return node.dtype.kind == "f" and not isinstance(node, Data)


def _is_plain(node: Node) -> bool:
    return isinstance(node, Apply) and node.operation.elementwise


def _is_finite(node: Control) -> bool:
    """Whether no slope inside is infinite."""
    return all(
        not isinstance(n, Apply)
        or n.dtype.kind != "f"
        or n.operation in FINITE
        or n.operation.name in _FINITE_WHOLE
        or (n.operation is INTEGER_POWER and n.attributes["y"] >= 0)
        for subgraph in node.subgraphs
        for n in everything(subgraph.nodes)
    )


def _is(node: Any, operation: Any) -> bool:
    return isinstance(node, Apply) and node.operation is operation


def _is_clean(node: Apply) -> bool:
    """Whether a cotangent of 0 gives 0."""
    if node.operation in CLEAN:
        return True
    if node.operation not in SCALED:
        return False
    x, y = node.parents
    if isinstance(y, Data) and y.literal:
        return bool(np.isfinite(y.value).all() and y.value.all())
    return (
        isinstance(x, Data)
        and x.literal
        and node.operation.name == "multiply"
        and bool(np.isfinite(x.value).all())
    )


def _united(paths: Iterable[Path]) -> Paths:
    """Alternatives in their simplest form; beyond some, in one that allows more."""
    found = set(paths)
    for path in sorted(found, key=len, reverse=True):
        while path and path in found:
            *outer, (node, side) = path
            if (*outer, (node, 1 - side)) not in found:
                break
            found -= {path, (*outer, (node, 1 - side))}
            path = tuple(outer)
            found.add(path)
    found = {p for p in found if not any(p[:n] in found for n in range(len(p)))}
    if len(found) > MOST:
        common: Path = ()
        for steps in zip(*found, strict=False):
            if len(set(steps)) > 1:
                break
            common = (*common, steps[0])
        found = {common}
    return frozenset(found)
