"""Values that a program computes only once."""

import numpy as np

import kinetograph as kg
from kinetograph.graph.precision import x64


def loops_in_program(function, *values):
    """The while loops of the compiled program."""
    function(*values)
    (program,) = function._programs.values()
    with x64():
        packed = function._entering.pack([*values, *function._state_values()])
        lowered = program.lower(packed, ())
        return lowered.compile().as_text().count(" while(")


def growing():
    x, w = kg.placeholder(name="x"), kg.placeholder(name="w")
    (y,) = kg.while_loop(lambda v: v < 100, lambda v: v * w, [x])
    return x, w, y


def test_a_value_and_its_gradient_share_the_forward_loop():
    x, w, y = growing()
    both = kg.compile([x, w], [y, *kg.gradients(y, [x, w]), y.loop.trips])
    assert loops_in_program(both, 200.0, 2.0) == 2  # forward, backward


def test_what_nobody_differentiates_keeps_nothing():
    x, w, y = growing()
    assert loops_in_program(kg.compile([x, w], y), 200.0, 2.0) == 1
    x, w = kg.placeholder(name="x"), kg.placeholder(name="w")
    (y,) = kg.while_loop(lambda v: v < 100, lambda v: v * w, [x], back_prop=False)
    gradient = kg.compile([x, w], kg.gradients(y * x, x))
    assert loops_in_program(gradient, 200.0, 2.0) == 1  # no backward loop


def test_gradients_of_gradients_share_too():
    x, w, y = growing()
    slope = kg.gradients(y, w)
    f = kg.compile([x, w], [y, slope, kg.gradients(slope * y, w)])
    assert np.isfinite(f(2.0, 1.5)).all()
