"""The index expression of a message is the user's own."""

import numpy as np
import pytest

import kinetograph as kg

Y = np.arange(12.0).reshape(3, 4)


def said(make):
    with pytest.raises((kg.SymbolicError, kg.SymbolicTruthError, kg.ShapeError)) as caught:
        make()
    return str(caught.value).partition("; ")[2]


def test_arrays():
    z, of = kg.categorical([0.5, 0.5], name="z"), {"é": Y}
    assert said(lambda: Y[z]) == "write kg.data(Y)[z]"
    assert said(lambda: 2 * Y[z, 1:] + 1) == "write kg.data(Y)[z, 1:]"
    assert said(lambda: of["é"].T[z + 1]) == 'write kg.data(of["é"].T)[z + 1]'
    assert said(lambda: Y[0][z]) == "write kg.data(Y[0])[z]"
    b = kg.normal(0, 1, shape=3)
    assert said(lambda: Y[b > 0]) == "write kg.where(b > 0, Y, 0), which keeps the length"


def test_slices():
    z = kg.categorical([0.5, 0.5], name="z")
    for make in (lambda: Y[:z], lambda: Y[z:], lambda: [1.0, 2.0][:z], lambda: kg.data(Y)[:z]):
        assert "write kg.where(np.arange(n) < w, a, b)" in said(make)


def test_other_uses_have_other_advice():
    z = kg.categorical([0.5, 0.5], name="z")
    assert "kg.stack" in said(lambda: np.array(z))
    assert "kg.stack(values)[k]" in said(lambda: [1.0, 2.0][z])

    def assign():
        y = Y.copy()
        y[z] = 1.0

    assert "kg.data" not in said(assign)
