"""Models between the prior and the posterior.

    log p(u) = log prior(u) + b log L(u),   0 <= b <= 1,              by a power b
    log p(u) = log prior(u) - log(1 + exp((l - log L(u)) / w)),       by a level l of width w

The prior is the density of the unknowns; the power 0 gives it, and 1 gives the posterior. A level
leaves the prior where log L is well above l, and w = 1 with a level far above log L gives the
posterior. All other terms belong to L: observed data, factors, and unknowns with given values. If
discrete unknowns are marginalised, L is the marginal likelihood. The settings (the power, or level
and width) are arguments of the compiled programs, like data, so that all their values use the same
programs.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import jax.numpy as jnp
from jax.nn import log_sigmoid

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
    """The joint log density, whose likelihood is changed by settings.

    Attributes
    ----------
    settings
        The power, or the level and its width.
    """

    def __init__(
        self, density: Density, discrete: Sequence[Variable], settings: Sequence[Node]
    ) -> None:
        super().__init__(density.unknowns, density.terms)
        self.settings = settings
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
        settings = [jnp.asarray(data[node], free.dtype) for node in self.settings]
        likelihood = self.likelihood(free, data, scope)
        if len(settings) == 1:
            (power,) = settings
            return prior + jnp.where(power == 0, 0.0, power * likelihood)
        level, width = settings
        return prior + log_sigmoid((likelihood - level) / width)


def _single(terms: Sequence[Term]) -> list[Term]:
    """All terms, also the members of a marginal term."""
    members = (t.terms if isinstance(t, MarginalTerm) else (t,) for t in terms)
    return [term for some in members for term in some]


class TemperedModel(Model):
    """A model with arguments that change its likelihood.

    The settings are named by `names`: ("power",) or ("level", "width").
    """

    density: TemperedDensity

    def __init__(self, model: Model, names: Sequence[str] = ("power",)) -> None:
        vars(self).update(vars(model))
        self.original = model
        nodes = [make_data(1.0).node for _ in names]
        self.settings = tuple(node for node in nodes if isinstance(node, Data))
        self.functions = CompiledFunctions()
        self.values = dict(model.values)
        self.data = (*model.data, *self.settings)
        used_names = set(model._node_names.values())
        named: dict[Node, str] = {}
        named |= {
            n: _free_name(name, used_names) for n, name in zip(self.settings, names, strict=True)
        }
        self._node_names = {**model._node_names, **named}
        with self.its_values():
            self.density = TemperedDensity(model.density, model.component.discrete, self.settings)


def _free_name(name: str, used_names: Any) -> str:
    while name in used_names:
        name += "_"
    return name
