"""Single discrete unknowns of a loop, eliminated together.

Unknowns in one place of alike terms have one *role*. If no term depends on two of them,
they are independent given the other unknowns, and are eliminated side by side, as the elements of
an array are. If each depends on the one before, z[t] on z[t - 1], they are a chain, and are
eliminated by the forward algorithm. An unknown of a chain may share terms with unknowns of other
roles, if these share terms with it alone. Other unknowns are eliminated one after the other.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np

from ...distributions.variable import Variable
from .domains import Domain
from .elimination import AtomTable
from .joined_terms import JoinedTerm
from .tables import COMBINATIONS, NUMBERS, Table

__all__ = ["LiftedUnknowns"]

Scope = tuple[Variable, ...]


class LiftedUnknowns:
    """Arrays of single unknowns, and the unknowns that remain single.

    Attributes
    ----------
    members
        The single unknowns that each array stands for.
    chains
        The arrays that are chains along their last axis.
    place
        The array of an unknown, and its place there.
    """

    def __init__(
        self,
        discrete: Sequence[Variable],
        domains: Mapping[Variable, Domain],
        tables: Iterable[Table],
    ) -> None:
        self.members: dict[Variable, Scope] = {}
        self.chains: set[Variable] = set()
        tables = list(tables)
        scopes = [scope for table in tables for scope in scopes_of(table)]
        for roles in _connected_roles(tables):
            for shape, members, chain in _arrays(roles, scopes, domains):
                first = members[0]
                array = Variable(first.support, shape, first.dtype)
                array._place = first._place
                self.members[array] = members
                self.chains |= {array} if chain else set()
        pairs = self.members.items()
        self.place = {v: (a, i) for a, members in pairs for i, v in enumerate(members)}
        self.variables = (*self.members, *(v for v in discrete if v not in self.place))
        self.domains = {v: d for v, d in domains.items() if v not in self.place}
        for array, members in pairs:
            possible = np.concatenate([domains[v].possible for v in members], 1)
            self.domains[array] = Domain(domains[members[0]].values, possible)

    def scopes(self, tables: Iterable[Table]) -> Iterator[Scope]:
        """The unknowns that tables depend on together."""
        for table in tables:
            yield from dict.fromkeys(map(self._eliminated, scopes_of(table)))

    def value(self, variable: Variable, values: Mapping[Variable, Any]) -> Any:
        """The value of an unknown, given values of arrays and remaining unknowns."""
        if variable not in self.place:
            return values[variable]
        array, i = self.place[variable]
        return values[array].reshape(-1)[i].reshape(variable.shape)

    def together(self, unknowns: Iterable[Variable]) -> list[list[Variable]]:
        """The unknowns of each array, and each other unknown."""
        groups: dict[Variable, list[Variable]] = {}
        for v in unknowns:
            groups.setdefault(self.place[v][0] if v in self.place else v, []).append(v)
        return list(groups.values())

    def _eliminated(self, scope: Scope) -> Scope:
        return tuple(self.place[v][0] if v in self.place else v for v in scope)

    def factors(self, scopes: Sequence[Scope], values: Any) -> Iterator[AtomTable]:
        """A table of values as tables over the unknowns that are eliminated.

        `scopes` has the unknowns of each atom, or of all.
        """
        rows_of: dict[Scope, list[int]] = {}
        for i, scope in enumerate(scopes):
            rows_of.setdefault(self._eliminated(scope), []).append(i)
        for elimination_scope, rows in rows_of.items():
            lifted = [k for k, v in enumerate(elimination_scope) if v in self.members]
            if not lifted:
                one = len(scopes) == 1
                yield AtomTable(elimination_scope, values if one else values[..., np.array(rows)])
                continue
            places = np.array([[self.place[scopes[i][k]][1] for k in lifted] for i in rows])
            part = values if len(rows) == len(scopes) else values[..., np.array(rows)]
            array = elimination_scope[lifted[0]]
            if elimination_scope.count(array) == 2:
                yield AtomTable(elimination_scope, _links(part, lifted, places, array.shape))
            else:
                yield AtomTable(elimination_scope, _placed(part, places[:, 0], array.size))


def scopes_of(table: Table) -> list[Scope]:
    """The unknowns of a table, or of each of its parts."""
    term = table.term
    if isinstance(term, JoinedTerm) and term.unknowns:
        return term.scopes(table.variables)
    return [table.variables]


def _placed(values: Any, places: np.ndarray, size: int) -> Any:
    """Values at their places along the last axis, added up; 0 elsewhere."""
    if np.array_equal(places, np.arange(size)):
        return values
    return jnp.zeros((*values.shape[:-1], size), values.dtype).at[..., places].add(values)


def _links(values: Any, axes: Sequence[int], places: np.ndarray, shape: tuple[int, ...]) -> Any:
    """Values for two neighbours of a chain, at the places between them."""
    size, length = math.prod(shape), shape[-1]
    before = places.min(1)
    link = before // length * (length - 1) + before % length
    forward = places[:, 0] < places[:, 1]
    values = jnp.where(forward, values, jnp.swapaxes(values, *axes))
    return _placed(values, link, size // length * (length - 1))


@dataclass(frozen=True, eq=False)
class Role:
    """The unknowns in one place of alike terms."""

    members: Scope


def _connected_roles(tables: Sequence[Table]) -> list[list[Role]]:
    """The sets of roles whose unknowns share terms."""
    joined = [(t.term, t.variables) for t in tables if isinstance(t.term, JoinedTerm)]
    shared = {v for term, variables in joined for v in variables if v not in term.unknowns}
    columns = [
        [v for v in column if v not in shared]
        for term, _ in joined
        for column in term.unknowns.values()
    ]
    roles = [Role(tuple(group)) for group in _joined_sets(columns)]
    role = {v: r for r in roles for v in r.members}
    every = [{role[v]: None for v in s if v in role} for t in tables for s in scopes_of(t)]
    return _joined_sets([*([r] for r in roles), *map(list, every)])


def _joined_sets[T](groups: Iterable[Iterable[T]]) -> list[list[T]]:
    """The sets of items that groups connect."""
    root: dict[T, T] = {}

    def find(item: T) -> T:
        while root.setdefault(item, item) != item:
            root[item] = root[root[item]]
            item = root[item]
        return item

    for group in groups:
        items = list(group)
        for item in items:
            root[find(item)] = find(items[0])
    joined: dict[T, list[T]] = {}
    for item in root:
        joined.setdefault(find(item), []).append(item)
    return list(joined.values())


def _arrays(
    roles: Sequence[Role], scopes: Sequence[Scope], domains: Mapping[Variable, Domain]
) -> Iterator[tuple[tuple[int, ...], Scope, bool]]:
    """The shape and members of each array, and whether it is chained."""
    role = {v: r for r in roles for v in r.members}
    whole = [s for s in scopes if not role.keys().isdisjoint(s)]
    single_unknowns = {v for s in whole for v in s if v not in role}
    if any(v.size != 1 for v in single_unknowns):
        return
    role_scopes = list(dict.fromkeys(tuple(v for v in s if v in role) for s in whole))
    neighbours_of = _neighbours(role_scopes)
    side: dict[tuple[Role, ...], list[list[Variable]]] = {}  # parts with one unknown of each role
    chains: dict[tuple[tuple[Role, ...], int], list[list[list[Variable]]]] = {}
    for part in sorted((sorted(p, key=_serial) for p in _joined_sets(role_scopes)), key=_first):
        part_roles = tuple(r for r in roles if any(role[v] is r for v in part))
        if len(part_roles) == len(part):
            side.setdefault(part_roles, []).append(
                sorted(part, key=lambda v: part_roles.index(role[v]))
            )
            continue
        for chain_role in part_roles:
            path = _path([v for v in part if role[v] is chain_role], neighbours_of, role)
            leaves = [
                _leaves(path or [], neighbours_of, role, r)
                for r in part_roles
                if r is not chain_role
            ]
            if path is not None and None not in leaves and len(path) * len(part_roles) == len(part):
                rows = [path, *(each for each in leaves if each is not None)]
                key = tuple(role[row[0]] for row in rows), len(path)
                chains.setdefault(key, []).append(rows)
                break
    combinations = math.prod(len(domains[v].values) for v in single_unknowns)
    for part_roles, parts in side.items():
        each = math.prod(len(domains[r.members[0]].values) for r in part_roles)
        if len(parts) > 1 and combinations * each <= COMBINATIONS:
            for members in zip(*parts, strict=True):
                yield (len(parts),), members, False
    for (part_roles, length), several in chains.items():
        states = [len(domains[r.members[0]].values) for r in part_roles]
        links = combinations * states[0] ** 2 * length * len(several)
        if links <= NUMBERS and combinations * math.prod(states) <= COMBINATIONS:
            shape = (length,) if len(several) == 1 else (len(several), length)
            for i, paths in enumerate(zip(*several, strict=True)):
                yield shape, tuple(v for path in paths for v in path), i == 0


def _first(part: Sequence[Variable]) -> int:
    return part[0].serial


def _serial(variable: Variable) -> int:
    return variable.serial


def _neighbours(scopes: Iterable[Scope]) -> dict[Variable, list[Variable]]:
    """The other unknowns with which each shares a term."""
    neighbours_of: dict[Variable, dict[Variable, None]] = {}
    for scope in scopes:
        for v in scope:
            neighbours_of.setdefault(v, {}).update((w, None) for w in scope if w is not v)
    return {v: list(neighbours) for v, neighbours in neighbours_of.items()}


def _path(
    part: Sequence[Variable],
    neighbours_of: Mapping[Variable, list[Variable]],
    role: Mapping[Variable, Role],
) -> list[Variable] | None:
    """Unknowns of one role in the order of a chain, or None."""
    near = {v: [w for w in neighbours_of[v] if role[w] is role[v]] for v in part}
    ends = [v for v in part if len(near[v]) < 2]
    if not ends or any(len(each) > 2 for each in near.values()):
        return None
    path, before = [ends[0]], None
    while True:
        after = [v for v in near[path[-1]] if v is not before]
        if not after:
            return path if len(path) == len(part) else None
        before = path[-1]
        path.append(after[0])


def _leaves(
    path: Sequence[Variable],
    neighbours_of: Mapping[Variable, list[Variable]],
    role: Mapping[Variable, Role],
    of: Role,
) -> list[Variable] | None:
    """The unknown of another role for each of a chain, or None."""
    leaves = [[w for w in neighbours_of[v] if role[w] is of] for v in path]
    if any(len(each) != 1 or len(neighbours_of[each[0]]) != 1 for each in leaves):
        return None
    return [each[0] for each in leaves]
