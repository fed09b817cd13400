"""The inputs that the outputs of a program depend on, which a loop stores."""

import jax
import jax.numpy as jnp
import pytest
from jax import lax

from kinetograph.graph.control.tensor_tuples import used_inputs
from kinetograph.graph.rewriting.participation import Tracked, read


def reads(function, *arguments, outputs=None):
    """The inputs that a function, or some of its outputs, reads."""
    jaxpr = jax.make_jaxpr(function)(*arguments).jaxpr
    if outputs is not None:
        wanted = [jaxpr.outvars[i] for i in outputs]
        jaxpr = jaxpr.replace(outvars=wanted, debug_info=jaxpr.debug_info.with_unknown_names())
    return used_inputs(jaxpr)


def branching(flag, x, y, z):
    return lax.cond(flag, lambda: (x + y, z), lambda: (x - 1.0, 2.0 * z))


def test_a_branch_reads_what_its_wanted_results_need():
    assert reads(branching, True, 1.0, 2.0, 3.0) == [True, True, True, True]
    assert reads(branching, True, 1.0, 2.0, 3.0, outputs=[0]) == [True, True, True, False]
    assert reads(branching, True, 1.0, 2.0, 3.0, outputs=[1]) == [True, False, False, True]


def test_nested_branches_and_calls_are_looked_into():
    def outer(flag, x, y):
        inner = jax.jit(lambda a, b: (a * 2.0, b * 3.0))
        return lax.cond(flag, lambda: inner(x, y), lambda: inner(y, x))

    assert reads(outer, True, 1.0, 2.0, outputs=[0]) == [True, True, True]

    def one_sided(flag, x, y):
        inner = jax.jit(lambda a, b: (a * 2.0, b * 3.0))
        return lax.cond(flag, lambda: inner(x, y), lambda: (x, y))

    assert reads(one_sided, True, 1.0, 2.0, outputs=[0]) == [True, True, False]


@pytest.mark.parametrize("taken", [True, False])
def test_writing_into_an_array_in_a_branch_does_not_need_its_values_to_be_derived(taken):
    def written(x, v):
        return lax.cond(taken & (v > 0), lambda: x.at[0].set(v), lambda: x).sum()

    def derivative(x, v, ct):
        return jax.vjp(written, x, v)[1](ct)

    assert reads(derivative, jnp.zeros(3), 1.0, 1.0)[0] is False


def test_a_loop_reads_what_its_wanted_results_are_made_of():
    """The inputs of the predicate are used; a value carried for itself is not."""

    def loop(n, x, y, scale, shift):
        def body(state):
            i, x, y = state
            return i + 1, x * scale, y + x + shift

        return lax.while_loop(lambda s: s[0] < n, body, (0, x, y))[1:]

    inputs = 3, 1.0, 2.0, 3.0, 4.0
    assert reads(loop, *inputs, outputs=[0]) == [True, True, False, True, False]
    assert reads(loop, *inputs, outputs=[1]) == [True, True, True, True, True]


def test_a_chain_of_what_a_loop_carries_is_followed():
    def loop(x, y, z):
        return lax.while_loop(lambda s: s[2] < 9, lambda s: (s[1], s[2], s[2] + 1), (x, y, z))

    assert reads(loop, 1, 2, 3, outputs=[0]) == [True, True, True]
    assert reads(loop, 1, 2, 3, outputs=[1]) == [False, True, True]
    assert reads(loop, 1, 2, 3, outputs=[2]) == [False, False, True]


def test_with_tokens_a_used_value_uses_its_token():
    def taking(x, token, other):
        return read(Tracked(x, token)), other

    inputs = 1.0, jnp.zeros((), jnp.float32), 2.0
    jaxpr = jax.make_jaxpr(taking)(*inputs).jaxpr
    first = jaxpr.replace(
        outvars=jaxpr.outvars[:1], debug_info=jaxpr.debug_info.with_unknown_names()
    )
    assert used_inputs(first) == [True, False, False]
    assert used_inputs(first, tokens=True) == [True, True, False]
