"""Synthetic sets of two classes in the plane, and of regression.

Labels of classes are 1 and -1. All sets are functions of their arguments, among them the seed; rows
are in random order.
"""

from collections.abc import Sequence

import numpy as np

from ...graph.public import public
from .reading import LabelledData

__all__ = ["linear", "sine", "spiral", "squares", "two_circles", "two_clusters"]


@public
def two_circles(
    points: int = 500, *, noise: float = 0.0, radius: float = 5.0, seed: int = 0
) -> LabelledData:
    """Make points of a disc and of a ring around it.

    Half of the radii are U(0, r/2) and half U(0.7 r, r). The label is 1 if |x + noise e| < r/2,
    where e has two coordinates U(-r, r), and otherwise -1.

    Examples
    --------
    >>> import kinetograph as kg
    >>> float(kg.neural.datasets.two_circles(6, seed=1).y.sum())
    0.0
    """
    rng, first, second = _begin(points, noise, radius, seed)
    radii = np.concatenate(
        [rng.uniform(0, radius / 2, first), rng.uniform(0.7 * radius, radius, second)]
    )
    angles = rng.uniform(0, 2 * np.pi, points)
    x = radii[:, None] * np.column_stack([np.cos(angles), np.sin(angles)])
    apart = np.linalg.norm(x + noise * rng.uniform(-radius, radius, (points, 2)), axis=1)
    return _shuffled(rng, x, np.where(apart < radius / 2, 1.0, -1.0))


@public
def squares(
    points: int = 500, *, noise: float = 0.0, radius: float = 5.0, seed: int = 0
) -> LabelledData:
    """Make points of four squares, with equal labels at opposite corners.

    Coordinates are U(-r, r), moved by 0.3 away from 0. The label is the sign of
    (x1 + noise e1) (x2 + noise e2), where e1 and e2 are U(-r, r).

    Examples
    --------
    >>> import kinetograph as kg
    >>> data = kg.neural.datasets.squares(100, seed=1)
    >>> bool((data.x.prod(1) * data.y[:, 0] > 0).all())
    True
    """
    rng, _, _ = _begin(points, noise, radius, seed)
    x = rng.uniform(-radius, radius, (points, 2))
    x += np.where(x > 0, 0.3, -0.3)
    noisy = x + noise * rng.uniform(-radius, radius, (points, 2))
    return _shuffled(rng, x, np.where(noisy.prod(1) > 0, 1.0, -1.0))


@public
def two_clusters(points: int = 500, *, noise: float = 0.0, seed: int = 0) -> LabelledData:
    """Make two normal clusters.

    They are around (2, 2), with label 1, and around (-2, -2), with label -1. The standard deviation
    of a coordinate is 0.5 + 7 noise.

    Examples
    --------
    >>> import kinetograph as kg
    >>> kg.neural.datasets.two_clusters(4, seed=1).x.shape
    (4, 2)
    """
    rng, first, second = _begin(points, noise, 1.0, seed)
    y = np.repeat([1.0, -1.0], [first, second])
    return _shuffled(rng, 2 * y[:, None] + (0.5 + 7 * noise) * rng.normal(size=(points, 2)), y)


@public
def spiral(
    points: int = 500, *, noise: float = 0.0, radius: float = 5.0, seed: int = 0
) -> LabelledData:
    """Make two spirals, one for each class.

    Point i of the m points of class c = 0 or 1 has radius r i / m and angle 3.5 pi i / m + c pi;
    noise e is added, where e has two coordinates U(-1, 1). Labels are 1 and -1.

    Examples
    --------
    >>> import kinetograph as kg
    >>> kg.neural.datasets.spiral(6, seed=1).labels
    ('label',)
    """
    rng, first, second = _begin(points, noise, radius, seed)
    share = np.concatenate([np.arange(m) / m for m in (first, second)])
    y = np.repeat([1.0, -1.0], [first, second])
    angles = 3.5 * np.pi * share + np.where(y < 0, np.pi, 0.0)
    x = (radius * share)[:, None] * np.column_stack([np.cos(angles), np.sin(angles)])
    return _shuffled(rng, x + noise * rng.uniform(-1, 1, (points, 2)), y)


@public
def sine(
    points: int = 100, *, noise: float = 0.1, radius: float = 3.0, seed: int = 0
) -> LabelledData:
    """Make a sine curve with noise: y = sin(x) + noise e.

    x is U(-r, r), and e is standard normal.

    Examples
    --------
    >>> import kinetograph as kg
    >>> kg.neural.datasets.sine(20, seed=1).y.shape
    (20, 1)
    """
    rng, _, _ = _begin(points, noise, radius, seed)
    x = rng.uniform(-radius, radius, (points, 1))
    return _shuffled(rng, x, np.sin(x[:, 0]) + noise * rng.normal(size=points))


@public
def linear(
    points: int = 100,
    *,
    weights: Sequence[float] = (1.0, -0.5),
    bias: float = 0.0,
    noise: float = 0.1,
    seed: int = 0,
) -> LabelledData:
    """Make a linear regression.

        y = x w + bias + noise e

    The coordinates of x and e are standard normal.

    Examples
    --------
    >>> import kinetograph as kg
    >>> kg.neural.datasets.linear(20, weights=[1.0, 2.0, 3.0], seed=1).inputs
    ('x1', 'x2', 'x3')
    """
    rng, _, _ = _begin(points, noise, 1.0, seed)
    x = rng.normal(size=(points, len(weights)))
    y = x @ np.asarray(weights, float) + bias + noise * rng.normal(size=points)
    return _shuffled(rng, x, y)


def _begin(
    points: int, noise: float, radius: float, seed: int
) -> tuple[np.random.Generator, int, int]:
    """The random numbers, and the numbers of points of both classes."""
    if not isinstance(points, (int, np.integer)) or points < 2:
        raise ValueError(f"points must be a whole number of at least 2, got {points!r}")
    if noise < 0 or not radius > 0:
        raise ValueError(
            f"noise must not be negative and radius must be positive, got {noise!r} and {radius!r}"
        )
    return np.random.default_rng(seed), points - points // 2, points // 2


def _shuffled(rng: np.random.Generator, x: np.ndarray, y: np.ndarray) -> LabelledData:
    order = rng.permutation(len(x))
    names = tuple(f"x{i + 1}" for i in range(x.shape[1]))
    return LabelledData(x[order], y[order, None], names, ("label",))
