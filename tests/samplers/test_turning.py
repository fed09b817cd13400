"""Half-trees of a growing stretch: against checks of every aligned stretch, in plain NumPy."""

import jax
import jax.numpy as jnp
import numpy as np

from kinetograph.graph.precision import x64
from kinetograph.samplers.turning import HalfTrees

LEVELS = 4


def turns(path: np.ndarray) -> bool:
    """Whether a stretch of 2, 4, 8, ... momenta turns, as the two halves that it is joined of."""
    left, right = np.split(path, 2)
    stretches = (path, np.vstack([left, right[:1]]), np.vstack([left[-1:], right]))
    return any(min(s.sum(0) @ s[0], s.sum(0) @ s[-1]) <= 0 for s in stretches)


def completed(path: np.ndarray) -> list[np.ndarray]:
    """The stretches that the last leaf completes."""
    count = len(path)
    return [path[-(2**k) :] for k in range(1, LEVELS + 1) if count % 2**k == 0]


@jax.jit
def _grow(paths: jax.Array) -> tuple[jax.Array, jax.Array]:
    """When each path turns first, and first and summed momentum of the whole."""

    def one(path: jax.Array) -> tuple[jax.Array, jax.Array]:
        halves = HalfTrees.room(LEVELS, path.shape[1], path.dtype)
        # What another stretch has left does not matter.
        halves = HalfTrees(*(rows + jnp.nan for rows in halves))
        turned = []
        for leaf, p in enumerate(path):
            halves, turning = halves.add(jnp.int32(leaf), p)
            turned.append(turning)
        first, _, total = halves.whole(jnp.int32(LEVELS))
        return jnp.stack(turned), jnp.stack([first, total])

    return jax.lax.map(one, paths)


def test_a_stretch_turns_where_one_that_it_is_made_of_does():
    rng = np.random.default_rng(1)
    paths = rng.normal(size=(400, 2**LEVELS, 3)) + rng.uniform(0.5, 1.5, (400, 1, 1))
    with x64():
        turned, whole = (np.asarray(found) for found in _grow(jnp.asarray(paths)))
    straight = 0
    for path, flags, (first, total) in zip(paths, turned, whole, strict=True):
        expected = [any(map(turns, completed(path[: n + 1]))) for n in range(len(path))]
        if any(expected):  # it is over there
            place = expected.index(True)
            assert flags[: place + 1].tolist() == expected[: place + 1]
        else:
            straight += 1
            assert not flags.any()
            np.testing.assert_array_equal(first, path[0])
            np.testing.assert_allclose(total, path.sum(0), rtol=1e-13)
    assert 40 < straight < 360
