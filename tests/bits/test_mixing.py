"""Keys made of the bits of an array."""

import jax
import numpy as np

from kinetograph.bits.mixing import key_of
from kinetograph.graph.precision import x64


def keys(rows):
    with x64():
        return np.stack(jax.jit(jax.vmap(key_of))(rows), -1)


def test_arrays_that_differ_have_other_keys():
    """In a last bit, in the order of the numbers, in a sign: of 10,000 arrays no two are equal."""
    rng = np.random.default_rng(0)
    base = rng.normal(size=6)
    rows = [np.nextafter(base, np.inf), -base, base[::-1], np.roll(base, 1), base]
    rows += [np.where(np.arange(6) == k, np.nextafter(base, 2), base) for k in range(6)]
    rows += [base + 1e-12 * k for k in range(1, 5000)]
    rows += list(rng.permuted(np.tile(base, (4000, 1)), axis=1)[:300])
    unique = np.unique(np.stack(rows), axis=0)
    found = keys(unique)
    assert len(np.unique(found, axis=0)) == len(unique)
    for word in found.T:  # of 5,000 words of 32 bits three pairs are equal by chance
        assert len(np.unique(word)) > len(unique) - 40


def test_equal_arrays_have_equal_keys():
    rows = np.tile(np.array([0.1, -3.0, 7.0]), (4, 1))
    assert len(np.unique(keys(rows), axis=0)) == 1


def test_bits_of_keys_are_even():
    found = keys(np.arange(4096.0)[:, None] * np.ones(3))
    bits = np.unpackbits(found.astype("<u4").view(np.uint8), axis=None).reshape(4096, 128)
    assert np.abs(bits.mean(0) - 0.5).max() < 6 * 0.5 / np.sqrt(4096)
