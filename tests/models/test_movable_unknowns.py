"""Which unknowns have coordinates that may be chosen."""

import kinetograph as kg
from kinetograph.models.movable_unknowns import DEEPEST, MovableUnknowns


def test_products_that_would_be_circular_or_do_not_fit_are_left_as_written():
    def build():
        a, b = kg.normal(0, 1, shape=2), kg.normal(0, 1, shape=2)
        one = kg.exp(b) * a
        z = kg.normal(0, 1)
        other = kg.exp(a) * b + kg.exp(a) * z
        kg.observe([0.0, 1.0], kg.normal(one + other, 1))
        return a, b, z

    model = kg.model(build)
    assert [model.name(v) for v in MovableUnknowns(model, rows_are_shared=False).shifts] == ["b"]


def test_deep_chains_stay_as_written_below_the_first_levels():
    def build():
        scale, x = kg.half_normal(1), [kg.normal(0, 1, name="x0")]
        for i in range(1, 40):
            x.append(kg.student(4, x[-1], scale, name=f"x{i}"))
        kg.observe(1.0, kg.normal(x[-1], 1))
        return scale, *x

    model = kg.model(build)
    names = [
        model.name(unknown) for unknown in MovableUnknowns(model, rows_are_shared=False).shifts
    ]
    assert names == [f"x{i}" for i in range(1, 1 + DEEPEST)]
