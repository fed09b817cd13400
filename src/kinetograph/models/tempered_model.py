"""A model whose likelihood is raised to a power.

    log p_b(u) = log prior(u) + b log L(u),   0 <= b <= 1

The prior is the density of the unknowns; b = 0 gives it, and b = 1 gives the posterior. All other
terms belong to L: observed data, factors, and unknowns with given values. If discrete unknowns are
marginalised, L is the marginal likelihood. The power b is an argument of the compiled programs,
like data, so that each of its values uses the same programs.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import jax.numpy as jnp

from ..distributions.variable import Variable
from ..graph.inputs import data as make_data
from ..graph.lower import Environment, Scope
from ..graph.node import Data, Node
from .compiled_functions import CompiledFunctions
from .density import Density
from .marginal.marginal import MarginalTerm, sum_out
from .model import Model
from .term import Term

__all__ = ["TemperedModel"]


class TemperedDensity(Density):
    """The joint log density with the likelihood raised to a power."""

    def __init__(self, density: Density, discrete: Sequence[Variable], power: Node) -> None:
        super().__init__(density.unknowns, density.terms)
        self.power = power
        unknowns = {v.distribution for v in (*density.unknowns, *discrete)}
        if density.marginal is None:
            prior = [term for term in density.terms if term.node in unknowns]
            rest = [term for term in density.terms if term.node not in unknowns]
        else:
            nodes = [term.node for term in _single(density.terms)]
            prior = sum_out(discrete, [Term(node) for node in nodes if node in unknowns])
            rest = [*density.terms]
        self.prior = Density(density.unknowns, prior)
        self.rest = Density(density.unknowns, rest)  # with the prior, if that is marginalised
        self.derived = tuple(dict.fromkeys((*self.prior.derived, *self.rest.derived)))
        self.has_likelihood = any(term.node not in unknowns for term in _single(density.terms))

    def likelihood(self, free: Any, data: Environment, scope: Scope | None = None) -> Any:
        """The logarithm of L at the free state."""
        rest = self.rest.log_density(free, data, adjusted=False, scope=scope)
        if self.marginal is None:
            return rest
        prior = self.prior.log_density(free, data, adjusted=False, scope=scope)
        return jnp.where(prior == -jnp.inf, -jnp.inf, rest - prior)

    def log_density(
        self, free: Any, data: Environment, *, adjusted: bool = True, scope: Scope | None = None
    ) -> Any:
        """The log density of the free state, without Jacobians unless `adjusted`."""
        scope = Scope() if scope is None else replace(scope)
        prior = self.prior.log_density(free, data, adjusted=adjusted, scope=scope)
        power = jnp.asarray(data[self.power], free.dtype)
        likelihood = self.likelihood(free, data, scope)
        return prior + jnp.where(power == 0, 0.0, power * likelihood)


def _single(terms: Sequence[Term]) -> list[Term]:
    """All terms, also the members of a marginal term."""
    members = (t.terms if isinstance(t, MarginalTerm) else (t,) for t in terms)
    return [term for some in members for term in some]


class TemperedModel(Model):
    """A model with the power of its likelihood as an argument."""

    density: TemperedDensity

    def __init__(self, model: Model) -> None:
        vars(self).update(vars(model))
        self.original = model
        power = make_data(1.0).node
        assert isinstance(power, Data)
        self.power = power
        self.functions = CompiledFunctions()
        self.values = dict(model.values)
        self.data = (*model.data, power)
        self._node_names = {**model._node_names, power: _free_name(model._node_names.values())}
        with self.its_values():
            self.density = TemperedDensity(model.density, model.component.discrete, power)


def _free_name(taken: Any) -> str:
    name, taken = "power", set(taken)
    while name in taken:
        name += "_"
    return name
