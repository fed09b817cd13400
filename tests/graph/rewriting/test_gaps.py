"""Values of some steps of a loop are elements of the stack of all steps."""

import numpy as np
import pytest

import kinetograph as kg
from kinetograph.graph.operations.shaping import STACK
from kinetograph.graph.rewriting.gaps import stacked_values

COUNT = 40
KEPT = [t for t in range(COUNT) if t % 5 != 3 and t not in (0, 11, 12, 39)]


def walk(z):
    level = 0.0
    for t in range(COUNT):
        level = level + 0.5 * z[t]
        yield level


def autoregression(z):
    level, mean = z[0], z[1] * 3
    for t in range(COUNT):
        level = mean + 0.9 * (level - mean) + z[t]
        yield level


def trend(z):
    level, slope = 0.0, z[0]
    for t in range(COUNT):
        slope = slope + 0.1 * z[t]
        level = level + slope + kg.sin(z[t])
        yield level


def second_order(z):
    before, level = z[0], z[1]
    for t in range(COUNT):
        before, level = level, 0.5 * level - 0.3 * before + z[t]
        yield level


def by_numpy(build, numbers):
    z = kg.placeholder((COUNT,))
    return kg.compile([z], kg.stack(list(build(z))))(numbers)


@pytest.mark.parametrize("build", [walk, autoregression, trend, second_order])
@pytest.mark.parametrize("repeated", [False, True])
def test_elements_of_all_steps(build, repeated):
    z, numbers = kg.placeholder((COUNT,)), np.random.default_rng(0).normal(size=COUNT)
    kept = sorted(KEPT * 2) if repeated else KEPT
    nodes = [value.node for value in build(z)]
    node = stacked_values(tuple(nodes[t] for t in kept))
    (whole,) = (p for p in node.parents if getattr(p, "operation", None) is STACK)
    assert whole.parents == tuple(nodes[KEPT[0] : KEPT[-1] + 1])
    found = kg.compile([z], kg.Array(node))(numbers)
    np.testing.assert_allclose(found, by_numpy(build, numbers)[kept], rtol=1e-14)


@pytest.mark.parametrize(
    "choose",
    [
        lambda nodes: nodes,  # without gaps
        lambda nodes: nodes[: COUNT // 2],  # too few
        lambda nodes: nodes[::-1],  # from the last step
        lambda nodes: [*nodes[:25], *nodes[30:28:-1]],
        lambda nodes: nodes[::5] * 6,
    ],
)
def test_other_values_are_stacked(choose):
    z = kg.placeholder((COUNT,))
    chosen = choose([value.node for value in walk(z)])
    node = stacked_values(tuple(chosen))
    assert node.operation is STACK
    assert node.parents == tuple(chosen)


def test_values_of_different_loops_are_stacked():
    z = kg.placeholder((COUNT,))
    first, second = ([value.node for value in build(z)] for build in (walk, trend))
    node = stacked_values((*first[:20], *second[20:]))
    assert node.operation is STACK
