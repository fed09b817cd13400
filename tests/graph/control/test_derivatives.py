"""Derivatives of loops and branches, every way round, against Python's own loops on jets."""

from functools import partial

import numpy as np
import pytest
from tests.graph.control import helpers
from tests.graph.control.helpers import (
    PROGRAMS,
    Graph,
    check_derivatives,
    compiled,
    derivatives,
    expected_derivatives,
    plain_derivatives,
)

import kinetograph as kg

# Value, gradient and Hessian at the points of PROGRAMS, from the requirements: closed forms.
REFERENCE = {
    "W9": (54, [27, 54], [[0, 27], [27, 36]]),
    "W10": (
        115.330078125,
        [57.6650390625, 768.8671875],
        [[0, 384.43359375], [384.43359375, 4613.203125]],
    ),
    "W11": (
        2.305351646929859,
        [-3.43239e-09, 0.4876261353217959],
        [[9.95662e-09, -2.00852e-07], [-2.00852e-07, -0.5330052176885969]],
    ),
    "W12": (
        408.638671875,
        [408.638671875, 2548.65234375],
        [[0, 2548.65234375], [2548.65234375, 14344.59375]],
    ),
    "W13a": (
        3.3254844521406928,
        [3.1918917142480874, -2.2200016089481887],
        [[10.446531817134327, -6.928355195914264], [-6.928355195914264, 5.231386890987397]],
    ),
    "W13b": (
        0.2587890625,
        [0.005859375, -0.5439453125],
        [[0.001953125, -0.029296875], [-0.029296875, 1.49169921875]],
    ),
}


def check(program, at, *, bound=None, grad="auto", dtype=float, rtol=1e-12, atol=1e-12):
    """All derivatives of a compiled program against those of plain Python."""
    with kg.precision(np.dtype(dtype).name):
        x, w = kg.placeholder(name="x"), kg.placeholder(name="w")
        y = program(Graph(bound, grad), x, w)
        assert y.dtype == dtype
        f = compiled([x, w], derivatives(y, [x, w]))
    at = np.asarray(at, dtype)
    expected = expected_derivatives(*plain_derivatives(program, at, bound))
    check_derivatives(f(*at), expected, rtol, atol)
    return f.function


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_oracle_has_the_reference_values(name):
    program, at = PROGRAMS[name]
    for mine, theirs in zip(plain_derivatives(program, at), REFERENCE[name]):
        np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", PROGRAMS)
def test_loops_have_exact_derivatives_without_a_bound(name):
    program, at = PROGRAMS[name]
    check(program, at)


@pytest.mark.parametrize(
    ("w", "trips"), [(1.5, 10), (2, 6), (3.68, 4), (3.69, 3), (7, 3), (7.05, 3), (7.1, 2)]
)
def test_trips_that_depend_on_data(w, trips, growth):
    value, dx, dw, ddw, dddw = growth(2.0, w)
    rtol = 1e-12
    np.testing.assert_allclose(value, 2 * w**trips, rtol)
    np.testing.assert_allclose(dx, w**trips, rtol)
    np.testing.assert_allclose(dw, 2 * trips * w ** (trips - 1), rtol)
    np.testing.assert_allclose(ddw, 2 * trips * (trips - 1) * w ** (trips - 2), rtol)
    third = trips * (trips - 1) * (trips - 2) * w ** (trips - 3)
    np.testing.assert_allclose(dddw, 2 * third, rtol)


@pytest.fixture(scope="module")
def growth():
    """The loop of W10 with its derivatives up to the third."""
    x, w = kg.placeholder(), kg.placeholder()
    y = helpers.growth(Graph(), x, w)
    dx, dw = kg.gradients(y, [x, w])
    ddw = kg.gradients(dw, w)
    return kg.compile([x, w], [y, dx, dw, ddw, kg.gradients(ddw, w)])


# Exact, loose and truncating bounds.
BOUNDS = {
    "W9": (3, 64, 2),
    "W10": (10, 500, 7),
    "W11": (17, 20, 9),
    "W12": (10, 40, 3),
    "W13a": (6, 32, 5),
    "W13b": (4, 9, 2),
}


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize(
    ("name", "grad"), [("W10", "auto"), ("W10", "stack"), ("W12", "stack"), ("W13a", "forward")]
)
def test_bounds(name, grad, place):
    program, at = PROGRAMS[name]
    check(program, at, bound=BOUNDS[name][place], grad=grad)


@pytest.mark.medium
@pytest.mark.parametrize(("name", "bound"), [("W10", None), ("W11", 12)])
def test_checkpoints(name, bound):
    program, at = PROGRAMS[name]
    check(program, at, grad="checkpoint", bound=bound)


@pytest.mark.parametrize("name", ["W10", "W11", "W13a"])
def test_single_precision(name):
    program, at = PROGRAMS[name]
    at = np.float32(at).astype(float)
    check(program, at, dtype=np.float32, rtol=2e-6, atol=2e-6)


PLACES = {
    name: getattr(helpers, name.replace(" ", "_"))
    for name in [
        "in cond",
        "beside cond",
        "in while",
        "in scan",
        "in vmap",
        "in vmap in while",
        "in while in vmap",
        "in cond in vmap",
    ]
}


@pytest.mark.parametrize("place", PLACES)
def test_data_dependent_loop_inside(place):
    check(partial(PLACES[place], helpers.growth), (2.0, 1.7))


CHECKPOINTED = {
    ("W10", "in cond"),
    ("W10", "in scan"),
    ("W10", "in vmap"),
    ("W13a", "in while"),
}


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("grad", ["auto", "stack", "forward", "checkpoint"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_loop_inside_everything(name, grad, place):
    program, at = PROGRAMS[name]
    if grad == "checkpoint" and (name, place) not in CHECKPOINTED:
        return  # minutes of compilation each
    bound = 60 if grad == "stack" else None
    check(partial(PLACES[place], program), at, grad=grad, bound=bound, rtol=1e-11, atol=1e-11)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("place", [None, 0, 1, 2])
@pytest.mark.parametrize("grad", ["auto", "stack", "forward", "checkpoint"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_every_loop_with_every_bound(name, grad, place, dtype):
    program, at = PROGRAMS[name]
    bound = None if place is None else BOUNDS[name][place]
    if bound is None and grad == "stack":
        return
    at = np.asarray(at, dtype)
    tolerance = 1e-12 if dtype == "float64" else 5e-6
    dtype = np.dtype(dtype)
    check(program, at, bound=bound, grad=grad, dtype=dtype, rtol=tolerance, atol=tolerance)
