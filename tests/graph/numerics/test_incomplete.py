"""How many terms of the series and fractions of incomplete functions are taken."""

import jax
import numpy as np

from kinetograph.graph.numerics import incomplete
from kinetograph.graph.precision import x64

X = np.exp([-1.0, 1.2, 88.5, 354.0])


def test_no_terms_are_taken_when_only_rounding_is_left(monkeypatch):
    """c d of two numbers that are each other's inverse need not be 1."""
    taken, plain = [], incomplete._until_small

    def counted(step, *arguments):
        def one(number, state):
            taken.append(number)
            return step(number, state)

        return plain(one, *arguments)

    monkeypatch.setattr(incomplete, "_until_small", counted)
    monkeypatch.setattr(incomplete, "TERMS", 1000)
    with x64(), jax.disable_jit():
        for x in X:
            taken.clear()
            incomplete._gamma_tails(np.float64(2.0), np.float64(x))
            assert 0 < len(taken) < 130, x
