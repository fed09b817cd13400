"""Rejection of many elements: each has what its own first accepted attempt proposes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.distributions.drawing import QUICK, SIZE, draw, make_source
from tests.selection import thinned

from kinetograph.bits import rejection
from kinetograph.bits.rejection import first_accepted
from kinetograph.bits.source import event_source
from kinetograph.graph.precision import x64

SHAPE = (331, 100)
ATTEMPTS = 400


def propose(source, attempt, p, scale):
    u = source.uniform(attempt)
    return scale * (attempt + u), u < p


def surely(source, attempt, p, scale):
    value, _ = propose(source, attempt, p, scale)
    return value, source.uniform(attempt) < 0.7 * p


def expected(source, p, scale, valid):
    """A plain loop over the attempts."""
    found = np.full(source.shape, -1.0)
    open_ = np.broadcast_to(valid, source.shape).copy()
    uniform = jax.jit(source.uniform)
    for attempt in range(ATTEMPTS):
        u = np.asarray(uniform(np.uint32(attempt)))
        now = open_ & (u < p)
        found = np.where(now, scale * (attempt + u), found)
        open_ &= ~now
        if not open_.any():
            return found
    raise AssertionError("an element has no accepted attempt")


@pytest.fixture
def queued(monkeypatch):
    """Also arrays of a few thousand elements go through the queue."""
    monkeypatch.setattr(rejection, "FEW", 2**12)


@pytest.mark.usefixtures("queued")
@pytest.mark.parametrize("sure", thinned([surely, None], 2))
def test_each_element_has_its_own_first_accepted_attempt(sure):
    rng = np.random.default_rng(1)
    # From certain to rare, some never asked, as an array and as a row; and one number for all.
    p = np.where(rng.random(SHAPE) < 0.1, rng.uniform(0.05, 0.2, SHAPE), rng.uniform(0.5, 1, SHAPE))
    valid = rng.random(SHAPE) < 0.9
    scale = np.linspace(1, 2, SHAPE[1])

    @jax.jit(compiler_options=QUICK)
    def program(p, scale, valid):
        source = make_source(SHAPE)
        return (
            first_accepted(source, propose, [p, scale], valid, np.float64(-1), sure),
            first_accepted(source, propose, [jnp.float64(0.3), scale[1]], valid[0], -1.0, sure),
        )

    with x64():
        source = make_source(SHAPE)
        some, equal = program(p, scale, valid)
        np.testing.assert_allclose(some, expected(source, p, scale, valid), rtol=1e-14)
        np.testing.assert_allclose(equal, expected(source, 0.3, scale[1], valid[0]), rtol=1e-14)


@pytest.mark.slow
@pytest.mark.usefixtures("queued")
def test_a_batch_is_its_rows_one_by_one():
    def program(event, p):
        source = event_source((1, 2, 3, 4), (event, 0), np.uint32(0), (6000,), np.float64)
        return first_accepted(source, propose, [p, 1.0], p > 0, np.float64(-1), surely)

    with x64():
        events, p = jnp.arange(3, dtype=np.uint32), jnp.array([0.9, 0.0, 0.2])
        rows = jax.jit(jax.vmap(program))(events, p)
        one = jax.jit(program)
        for i in range(3):
            np.testing.assert_array_equal(rows[i], one(events[i], p[i]))
    assert (rows[1] == -1).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("gamma", ([1e-3, 0.5, 1.0, 2.5, 1e6, -1.0], [2.0])),
        ("poisson", ([0.0, 3.0, 10.0, 11.0, 30.0, 1e3, 1e9, np.nan],)),
        ("binomial", ([20, 21, 100, 10**6, -1], [0.5, 0.49, 0.3, 0.999, 1e-4, 0.7])),
        ("integers", ([0, -(2**62)], [10, 2**62 + 1, 7])),
    ],
)
def test_many_numbers_are_those_of_fewer(name, parameters):
    size = rejection.FEW + 77
    values = [np.resize(p, size) for p in parameters]
    many, fewer = draw(name, *values, shape=size), draw(name, *(v[:SIZE] for v in values))
    np.testing.assert_allclose(many[:SIZE], fewer, rtol=1e-11 if many.dtype.kind == "f" else 0)
