"""One addend of the log density of a model."""

from collections.abc import Set
from functools import cached_property
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..distributions.support import REAL
from ..distributions.variable import Distribution
from ..graph.lower import Environment, Scope
from ..graph.node import Data, Node, ancestors
from .rewrites.normal_regression import Compressed, compress

__all__ = ["Term", "widened"]


class Term:
    """One addend of the log density: a distribution, or a factor."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.forms: dict[str, Node] = {}
        self.small = False
        if isinstance(node, Distribution):
            self.forms, self.small = node.forms(), node.small()

    @cached_property
    def compressed(self) -> Compressed | None:
        """The compressed form of the likelihood of an array, or None."""
        likelihood = isinstance(self.node, Distribution) and isinstance(self.target, Data)
        return compress([self.node]) if likelihood else None  # type: ignore[list-item]

    def renewed(self, changed: Set[Node]) -> "Term":
        """The term for the present values of data.

        It is the same object if none of its data changed.
        """
        return self if changed.isdisjoint(ancestors(self.plain_needs())) else Term(self.node)

    def fits(self, other: "Term") -> bool:
        """Whether another term of this node has the same program."""
        compressed, its = self.compressed, other.compressed
        same = its is None if compressed is None else compressed.fits(its)
        return same and self.small == other.small and self.forms.keys() == other.forms.keys()

    @property
    def target(self) -> Node | None:
        """The node that follows the distribution; None for a factor."""
        return self.node.target if isinstance(self.node, Distribution) else None

    def needs(self) -> tuple[Node, ...]:
        """The nodes whose tensors `value` needs."""
        return self.plain_needs() if self.compressed is None else self.compressed.needs()

    def plain_needs(self) -> tuple[Node, ...]:
        """The nodes whose tensors `elements` needs."""
        if isinstance(self.node, Distribution):
            assert self.target is not None
            return (*self.node.parents, self.target, *self.forms.values())
        return (self.node,)

    def value(self, environment: Environment, scope: Scope | None = None) -> Any:
        """The term's total.

        `scope` receives the reports of loops that are evaluated on the way.
        """
        node = self.node
        if self.compressed is not None:
            return self.compressed.total(environment)
        if not isinstance(node, Distribution):
            return jnp.sum(environment[node])
        arguments, forms = self._arguments(node, environment)
        return node.family.log_density_total(*arguments, small=self.small, **forms)

    def elements(self, environment: Environment) -> Any:
        """The term's value for each element of its target."""
        node = self.node
        if not isinstance(node, Distribution):
            return environment[node]
        arguments, forms = self._arguments(node, environment)
        return node.family.log_density(*arguments, small=self.small, **forms)

    def guarded_elements(self, environment: Environment) -> Any:
        """The elements, without a slope where an element is -inf."""
        node = self.node
        if not isinstance(node, Distribution) or node.support is REAL:
            return self.elements(environment)
        arguments, forms = self._arguments(node, environment)
        return node.family.guarded_log_density(*arguments, small=self.small, **forms)

    def _arguments(
        self, node: Distribution, environment: Environment
    ) -> tuple[list[Any], dict[str, Any]]:
        """The tensors of the arguments of a distribution, and of their forms."""
        arguments = [widened(environment[n], node.dtype) for n in node.arguments.values()]
        forms = {key: widened(environment[n], node.dtype) for key, n in self.forms.items()}
        return arguments, forms


def widened(tensor: Any, dtype: np.dtype) -> Any:
    """The tensor in at least the precision of the distribution."""
    wide = tensor.dtype.kind == "f" and tensor.dtype.itemsize >= dtype.itemsize
    return tensor if wide else jnp.asarray(tensor, dtype)
