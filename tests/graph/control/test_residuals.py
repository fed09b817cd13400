"""The two parts of the derivative of a trip agree with the whole derivative."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kinetograph as kg
from kinetograph.graph.control.residuals import Residuals
from kinetograph.graph.precision import x64


def trip(x, w, row):
    jax.jit(lambda flag: ())(x > 0)  # an operation without results
    return jnp.sin(x * jnp.exp(w)) + x * row


def product(alive, x, w, row, ct):
    new, pull = jax.vjp(trip, x, w, row)
    return (new, *pull(ct))


VALUES = (np.bool_(True), 0.7, 0.3, 1.9, -0.4)


def residuals():
    return Residuals(jax.make_jaxpr(product)(*VALUES), (1, 1, 1), 1)


def test_both_parts_give_what_the_whole_gives():
    with x64():
        parts = residuals()
        alive, x, w, row, ct = VALUES
        (new,), kept = parts.forward(alive, (x,), (w,), (row,))
        found = parts.second(alive, *kept, w, *[row] * len(parts.rows), ct)
        np.testing.assert_allclose((new, *found), product(*VALUES), rtol=1e-14)


def test_what_follows_from_captures_alone_and_rows_are_not_kept_again():
    with x64():
        parts = residuals()
        assert parts.rows == [0]
        # The cosine, and x itself: not exp(w), and not the row.
        assert len(parts.types) == 2
        assert parts.gains


@pytest.mark.parametrize(
    ("carried", "length", "most", "worth"),
    [(8, 10, 1000, True), (8, 100, 1000, False), (0, 10, 1000, True)],
)
def test_more_is_kept_only_where_there_is_room(carried, length, most, worth):
    with x64():
        assert residuals().worth(carried, length, most) is worth


def test_much_more_than_what_is_carried_is_computed_again():
    def wide(alive, x, ct):
        value, pull = jax.vjp(lambda x: jnp.sin(jnp.outer(x, x) + 1.0).sum(1), x)
        return (value, *pull(ct))

    with x64():
        x = np.ones(30)
        parts = Residuals(jax.make_jaxpr(wide)(np.bool_(True), x, x), (1, 0, 0), 1)
        assert parts.gains
        assert not parts.worth(x.nbytes, 10, 2**26)


def test_nothing_is_gained_where_only_the_carry_is_read():
    x = kg.placeholder(name="x")
    (y,) = kg.while_loop(lambda v: v < 100, lambda v: v * v, [x], name="squaring")
    f = kg.compile([x], kg.gradients(y, x))
    f(2.0)
    assert kg.explain(f)["squaring"].bytes == 64 * 8
