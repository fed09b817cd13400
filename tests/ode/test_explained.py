"""The loops of the solver have the bounds and names that it gives them."""

import numpy as np

import kinetograph as kg


def test_steps_and_outputs_are_bounded():
    rate = kg.half_normal(1)

    def decay(t, y):
        return -rate * y**2

    y = kg.ode.solve(decay, kg.half_normal(1), np.linspace(0.0, 1.0, 5))
    kg.observe(np.ones(5), kg.normal(y, 1.0))
    model = kg.model(rate)
    model.gradient(np.zeros(model.free_size))
    told = str(kg.explain(model))
    assert "steps " in told
    assert "at most 1000 trips" in told
    assert "no bound" not in told
