"""The term of the density in which discrete unknowns are marginalised."""

from collections.abc import Mapping, Sequence, Set
from functools import cached_property
from types import MappingProxyType
from typing import Any

import jax.numpy as jnp
import numpy as np

from ...bits.mixing import key_of
from ...bits.source import event_source
from ...distributions.markov_chain import MARKOV_CHAIN
from ...distributions.variable import Distribution, Variable
from ...graph.errors import ModelError
from ...graph.lower import Environment, Scope
from ...graph.messages import describe, site_text
from ...graph.node import Node, ancestors
from ..term import Term
from .addends import addends
from .cut_tables import CutTable
from .domains import Domain, domain_of
from .elimination import AtomTable, Elimination
from .joined_stacks import joined_stacks
from .joined_terms import JoinedTerm, joined_terms
from .lifted import LiftedUnknowns, scopes_of
from .tables import Table, depends

__all__ = ["MarginalTerm", "sum_out"]


NOTHING: Mapping[Variable, Any] = MappingProxyType({})


class MarginalTerm(Term):
    """The terms that depend on discrete unknowns, marginalised together."""

    def __init__(
        self,
        discrete: Sequence[Variable],
        terms: Sequence[Term],
        joined: Sequence[Term] | None = None,
    ) -> None:
        self.discrete = tuple(discrete)
        self.domains = domains = {v: domain_of(v) for v in discrete}
        unknown_of = {v.distribution: v for v in discrete}
        chains = {d for d in unknown_of if d is not None and d.family is MARKOV_CHAIN}
        if joined is None:
            joined = joined_terms([t for t in terms if t.node not in chains], discrete, domains)
            joined = joined_stacks(joined, discrete)
        self.tables = [table for term in joined for table in self._tables(term, domains)]
        self.joined = tuple(table.term for table in self.tables)
        self.lifted = LiftedUnknowns(discrete, domains, self.tables)
        lifted = self.lifted
        scopes = [*lifted.scopes(self.tables), *((v,) for v in lifted.variables)]
        self.elimination = Elimination(lifted.variables, lifted.domains, scopes, lifted.chains)
        needed = [n for table in self.tables for n in table.captured]
        needed += [p for d in chains for p in d.parents]
        _check_chains([unknown_of[d] for d in chains], discrete)
        self._needs = tuple(dict.fromkeys(n for n in needed if n not in set(discrete)))
        self.node = terms[0].node
        self.forms = {}
        self.small = False
        self.compressed = None
        self.terms = tuple(terms)
        for term in terms:
            term.compressed = None  # elements are needed for each value of the discrete unknowns

    def _tables(self, term: Term, domains: Mapping[Variable, Domain]) -> list[Table]:
        """The table of a term; several if it is too large together."""
        if not isinstance(term, JoinedTerm):
            return [CutTable(term, self.discrete, domains)]
        unknowns = (*term.unknowns, *self.discrete)
        try:
            return [CutTable(term, unknowns, {**domains, **term.domains(domains)})]
        except ModelError:
            return [table for part in term.parts for table in self._tables(part, domains)]

    @property
    def target(self) -> None:
        """None: a marginal term has no target."""
        return

    def needs(self) -> tuple[Node, ...]:
        """The nodes whose tensors `value` needs."""
        return self._needs

    def plain_needs(self) -> tuple[Node, ...]:
        """The nodes whose tensors `value` needs."""
        return self._needs

    @cached_property
    def inner(self) -> tuple[Node, ...]:
        """The nodes that are computed for each value of the discrete unknowns."""
        nodes = ancestors([n for table in self.tables for n in table.term.plain_needs()])
        dependent = depends(nodes, [v for table in self.tables for v in table.variables])
        return tuple(n for n in nodes if n in dependent)

    def renewed(self, changed: Set[Node]) -> Term:
        """The term for the present values of data.

        It is the same object if none of its data changed.
        """
        terms = [term.renewed(changed) for term in self.terms]
        same = all(a is b for a, b in zip(terms, self.terms, strict=True))
        if same:
            return self
        joined = [term.renewed(changed) for term in self.joined]
        return MarginalTerm(self.discrete, terms, joined)

    def fits(self, other: Term) -> bool:
        """Whether another term of these nodes has the same program."""
        assert isinstance(other, MarginalTerm)
        tables = zip(self.tables, other.tables, strict=True)
        terms = zip(self.terms, other.terms, strict=True)
        return all(a.sums_like(b) for a, b in tables) and all(a.fits(b) for a, b in terms)

    def value(self, environment: Environment, scope: Scope | None = None) -> Any:
        """The logarithm of the sum over all values of the discrete unknowns."""
        return self._run(environment, scope)[0]

    def elements(self, environment: Environment) -> Any:
        """The value: a marginal term has no elements."""
        return self.value(environment)

    def draw(
        self, environment: Environment, free: Any, given: Mapping[Variable, Any] = NOTHING
    ) -> dict[Node, Any]:
        """Values of the discrete unknowns, given all other unknowns.

        The random bits are computed from the free state alone, so that the same state gives the
        same values. `given` has the values of discrete unknowns that are known.
        """
        key = key_of(free)
        events = {v: i for i, v in enumerate(self.discrete)}

        def numbers(variable: Variable) -> Any:
            first, *_ = self.lifted.members.get(variable, (variable,))
            event = np.uint32(events[first]), np.uint32(0)
            return event_source(key, event, np.uint32(0), variable.shape, float).uniform()

        values = self.elimination.draw(self._run(environment, None, given)[1], numbers)
        return {v: self.lifted.value(v, values) for v in self.discrete}

    def _run(
        self,
        environment: Environment,
        scope: Scope | None,
        given: Mapping[Variable, Any] = NOTHING,
    ) -> tuple[Any, list[Any]]:
        scope = Scope() if scope is None else scope
        factors = self.factors([t.evaluate(environment, scope) for t in self.tables])
        for unknowns in self.lifted.together(given):
            values = jnp.asarray(self.domains[unknowns[0]].values)[:, None]
            given_values = jnp.concatenate([jnp.ravel(given[v]) for v in unknowns])
            is_given = jnp.where(values == given_values, 0.0, -jnp.inf)
            factors += self.lifted.factors([(v,) for v in unknowns], is_given)
        return self.elimination.run(factors, environment)

    def factors(self, values: Sequence[Any]) -> list[AtomTable]:
        """The tables that are added up, with their values."""
        factors: list[AtomTable] = []
        for table, value in zip(self.tables, values, strict=True):
            factors += self.lifted.factors(scopes_of(table), value)
        covered = {v for factor in factors for v in factor.variables}
        for v in self.lifted.variables:
            if v not in covered:  # a chain that no term depends on
                count = len(self.elimination.domains[v].values)
                factors.append(AtomTable((v,), jnp.zeros((count, v.size))))
        return factors

    def unit(self, variable: Variable, atom: Any = 0, atoms: int = 1) -> Any:
        """The number of the last sum that an atom is part of."""
        if variable in self.lifted.place:
            variable, atom = self.lifted.place[variable]
            atoms = variable.size
        end, count = self.elimination.ends[variable]
        return sum(self.elimination.counts[:end]) + atom * count // atoms


def _check_chains(chains: Sequence[Variable], discrete: Sequence[Variable]) -> None:
    """Refuse Markov chains whose probabilities depend on a discrete unknown (ModelError)."""
    for chain in chains:
        assert chain.distribution is not None
        above = set(ancestors(chain.distribution.parents)) & set(discrete)
        if above:
            names = " and ".join(f"{describe(v)}{site_text(v)}" for v in above)
            raise ModelError(
                f"model: the probabilities of the Markov chain {describe(chain)}{site_text(chain)} "
                f"depend on the discrete unknown {names}: they cannot be marginalised together; "
                "write the sequence as a loop with an unknown for each step, or fix "
                f"{next(iter(map(describe, above)))} by kg.condition"
            )


def sum_out(discrete: Sequence[Variable], terms: Sequence[Term]) -> list[Term]:
    """Put the terms that depend on discrete unknowns together in one.

    Returns the other terms, and this one as the last.

    Raises
    ------
    ModelError
        If the unknowns cannot be marginalised.
    """
    if not discrete:
        return list(terms)
    discrete_terms: list[Term] = []
    other_terms: list[Term] = []
    for term in [part for term_given in terms for part in _apart(term_given, discrete)]:
        (discrete_terms if _about(term, discrete) else other_terms).append(term)
    return [*other_terms, MarginalTerm(discrete, discrete_terms)]


def _about(term: Term, discrete: Sequence[Variable]) -> set[Node]:
    """The discrete unknowns that a term depends on."""
    return set(ancestors(term.plain_needs())) & set(discrete)


def _apart(term: Term, discrete: Sequence[Variable]) -> list[Term]:
    """Take a factor apart into terms that depend on single elements.

    Distributions, and factors of single unknowns, are left whole.
    """
    if isinstance(term.node, Distribution) or all(v.size < 2 for v in _about(term, discrete)):
        return [term]
    parts = addends(term.node)
    return [term] if parts == [term.node] else [Term(node) for node in parts]
