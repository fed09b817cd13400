"""Means and variances of every family, against SciPy, mpmath and linear algebra."""

from functools import partial

import jax
import jax.numpy as jnp
import mpmath as mp
import numpy as np
import pytest
from scipy import stats
from tests.distributions.cases.every import CASES, with_part
from tests.distributions.cases.expected import CENTRE, CHOL, COV, of

from kinetograph.distributions.family import FAMILIES
from kinetograph.distributions.mixture import mixture, mixture_of
from kinetograph.distributions.truncation import truncated
from kinetograph.graph.precision import x64

CASES = {name: CASES[name] for name in with_part("moment_sets")}
EVENTS = {name: (4, 4) if name.startswith("lkj") else (4,) for name in CASES}
ENTRIES = [(name, parameters) for name, case in CASES.items() for parameters in case.moment_sets]
WHOLE = {
    (name, k)
    for name, family in FAMILIES.items()
    for k, parameter in enumerate(family.parameters)
    if parameter.integer
}


def event(name, parameters):
    family = FAMILIES[name]
    shapes = [np.shape(p) for p in parameters]
    return tuple(family.event_shape(*shapes)) or EVENTS[name][: 2 if "lkj" in name else 1]


def every(entries, *parameters):
    """The moments of all entries, in one program, those of like shapes in a batch."""
    alike = {}
    for k, ((name, _), own) in enumerate(zip(entries, parameters, strict=True)):
        alike.setdefault((name, *map(jnp.shape, own)), []).append(k)
    found = [None] * len(entries)
    for (name, *_), places in alike.items():
        family, given = FAMILIES[name], entries[places[0]][1]
        shape = event(name, given) if family.event_ndim else ()
        stacked = [jnp.stack(p) for p in zip(*(parameters[k] for k in places), strict=True)]
        moments = jax.vmap(partial(family.mean_and_variance, shape))(*stacked)
        for row, k in enumerate(places):
            found[k] = jax.tree.map(lambda m, row=row: m[row], moments)
    return found


def real(entries):
    return [tuple(np.asarray(p, float) for p in own) for _, own in entries]


def test_every_family_has_moments():
    assert set(FAMILIES) == set(CASES)
    assert all(family.moments is not None for family in FAMILIES.values())


def test_moments_are_those_of_others():
    with x64():
        found = jax.jit(partial(every, ENTRIES))(*real(ENTRIES))
    with np.errstate(all="ignore"):
        wanted = [CASES[name].mean_and_variance(*parameters) for name, parameters in ENTRIES]
    for (name, parameters), got, told in zip(ENTRIES, found, wanted, strict=True):
        for one, other, what in zip(got, told, ("mean", "variance"), strict=True):
            np.testing.assert_allclose(
                np.broadcast_to(one, np.shape(other)),
                other,
                rtol=1e-10,
                atol=1e-15 if name == "von_mises" or not np.all(other) else 1e-290,
                err_msg=f"{what} of {name}{parameters}",
            )


def test_what_does_not_exist():
    with x64():
        student = FAMILIES["student"].mean_and_variance((), 1.0, 0.0, 1.0)
        half = FAMILIES["half_student"].mean_and_variance((), 0.5, 1.0)
    assert np.isnan(student).all()  # SciPy: a mean of inf
    assert np.isinf(half).all()


# With a series, a sum over elements, or a choice.
SOME = {"dirichlet", "f", "half_student", "hurdle_poisson", "ordered_logistic", "weibull"}


@pytest.mark.parametrize("names", [SOME, pytest.param(set(CASES) - SOME, marks=pytest.mark.slow)])
def test_slopes_are_difference_quotients(names):
    # Beside a df of which there is no variance differences are large, and a mean near 0 is rounded.
    entries = [
        e
        for e in ENTRIES
        if e[0] in names and not {2.001, 4.001, 2e-9} & {p for p in e[1] if np.ndim(p) == 0}
    ]
    parameters = real(entries)
    rank = max(map(len, parameters))

    def along(k, h):
        """Each entry's parameter k moved by h of its size."""
        return [
            tuple(
                p * (1 + h) if j == k and (name, j) not in WHOLE else p for j, p in enumerate(own)
            )
            for (name, _), own in zip(entries, parameters, strict=True)
        ]

    with x64():
        value = jax.jit(partial(every, entries))
        slope = jax.jit(
            lambda at, change: jax.jvp(partial(every, entries), tuple(at), tuple(change))[1]
        )
        for k in range(rank):
            at = along(k, 0.0)
            change = [
                tuple(n - p for n, p in zip(new, own, strict=True))
                for new, own in zip(along(k, 1.0), at, strict=True)
            ]
            found = slope(at, change)
            h = 1e-4
            steps = [value(*along(k, s * h)) for s in (-2, -1, 1, 2)]
            for (name, given), got, *near in zip(entries, found, *steps, strict=True):
                for one, a, b, c, d in zip(got, *near, strict=True):
                    wanted = (8 * (c - b) - (d - a)) / (12 * h)
                    size = np.max(np.abs(np.where(np.isfinite(b), b, 0.0)), initial=1e-12)
                    sure = np.isfinite(wanted)
                    assert np.isfinite(np.where(sure, one, 0.0)).all(), name
                    np.testing.assert_allclose(
                        np.where(sure, one, 0.0),
                        np.where(sure, wanted, 0.0),
                        rtol=1e-7,
                        atol=1e-8 * size,
                        err_msg=f"{name}{given} by its parameter {k}",
                    )


def check_truncated(name, sides, bounds, parameters, other, rtol=1e-10):
    family = truncated(FAMILIES[name], sides)
    with x64():
        got = jax.jit(lambda *p: family.mean_and_variance((), *p))(
            *(np.asarray(p, float) for p in (*parameters, *bounds))
        )
    np.testing.assert_allclose(got, other, rtol=rtol, atol=1e-300)


def between(density, low, high):
    """The moments of a density between two bounds, in mpmath's numbers."""
    with mp.workdps(40):
        ends = mp.linspace(low, high, 9) if mp.isfinite(high) else [low, low + 1, low + 5, high]
        whole = mp.quad(density, ends)
        mean = mp.quad(lambda x: x * density(x), ends) / whole
        return float(mean), float(mp.quad(lambda x: (x - mean) ** 2 * density(x), ends) / whole)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("low", "high"), [(-1, 2), (10, 11), (40, mp.inf), (-3, -3 + 1e-4), (0, mp.inf), (-0.01, 0.01)]
)
def test_truncated_normal_numbers(low, high):
    low, high = mp.mpf(low), mp.mpf(high)
    mean, variance = between(lambda x: mp.exp(-(x**2) / 2 + low**2 / 2), low, high)
    # Of 2 X + 3, and mirrored.
    wanted = 2 * mean + 3, 4 * variance
    bounds = [float(2 * low + 3), float(2 * high + 3)]
    check_truncated("normal", ("lower", "upper"), bounds, (3.0, 2.0), wanted, rtol=1e-9)
    turned = [-b for b in reversed(bounds)]
    wanted = -wanted[0], wanted[1]
    check_truncated("normal", ("lower", "upper"), turned, (-3.0, 2.0), wanted, rtol=1e-9)
    if high == mp.inf:
        check_truncated("normal", ("upper",), turned[1:], (-3.0, 2.0), wanted, rtol=1e-9)


@pytest.mark.slow
def test_other_truncated_numbers():
    both = ("lower", "upper")
    half = stats.truncnorm(0.5, 1.5, 0, 2)
    check_truncated("half_normal", both, (1.0, 3.0), (2.0,), of(half))
    check_truncated("half_normal", ("upper",), (3.0,), (2.0,), of(stats.truncnorm(0, 1.5, 0, 2)))
    check_truncated("exponential", ("lower",), (7.0,), (0.5,), (9.0, 4.0))
    for low, high in ((1.0, 4.0), (0.0, 1e-6), (2.0, 900.0)):
        wanted = between(lambda x: mp.exp(-x / 2), mp.mpf(low), mp.mpf(high))
        if high > 100:
            wanted = (low + 2.0, 4.0)
        check_truncated("exponential", both, (low, high), (0.5,), wanted)
    check_truncated("uniform", both, (0.5, 2.0), (-1.0, 3.0), of(stats.uniform(0.5, 1.5)))
    check_truncated("discrete_uniform", ("lower",), (2,), (-5, 9), of(stats.randint(2, 10)))
    for low, high in ((1, 10**6), (3, 7), (0, 2), (30, 40)):
        x = np.arange(low, min(high, 200) + 1)
        p = stats.poisson(4.0).pmf(x)
        mean = x @ p / p.sum()
        wanted = mean, (x - mean) ** 2 @ p / p.sum()
        check_truncated("poisson", both, (low, high), (4.0,), wanted)
    check_truncated("poisson_log_rate", ("upper",), (0,), (1.0,), (0.0, 0.0))


def test_a_truncated_exponential_number_forgets_where_it_began():
    """Beyond a bound it is as from the start: mean low + 1 / rate."""
    family = truncated(FAMILIES["exponential"], ("lower",))
    with x64():
        found = jax.jit(lambda *a: family.mean_and_variance((), *a))(0.5, 7.0)
    np.testing.assert_allclose(found, (9.0, 4.0), rtol=1e-12)


def test_slopes_of_truncated_numbers():
    family = truncated(FAMILIES["normal"], ("lower", "upper"))

    def both(*p):
        return jnp.stack(family.mean_and_variance((), *p))

    with x64():
        at = np.array([0.3, 1.2, -0.5, 2.5])
        slopes = np.array(jax.jit(jax.jacfwd(both, (0, 1, 2, 3)))(*at))
        h = 1e-3 * np.eye(4)
        both = jax.jit(both)
        wanted = [
            (8 * (both(*(at + e)) - both(*(at - e))) - both(*(at + 2 * e)) + both(*(at - 2 * e)))
            / (12 * e.sum())
            for e in h
        ]
        np.testing.assert_allclose(slopes, wanted, rtol=1e-8)
        endless = jax.jacrev(family.mean_and_variance, (1, 2, 3, 4))((), 0.3, 1.2, -0.5, np.inf)
    assert np.isfinite(np.array(endless)).all()


def test_mixtures():
    parts = (FAMILIES["normal"], FAMILIES["student"])
    weights = np.array([0.3, 0.7])
    with x64():
        mean, variance = mixture(*parts).mean_and_variance((), weights, 1.0, 2.0, 5.0, -1.0, 0.5)
        mean, variance = float(mean), float(variance)
        endless = mixture(*parts).mean_and_variance((), weights, 1.0, 2.0, 1.5, -1.0, 0.5)
        left = mixture(*parts).mean_and_variance((), np.array([1.0, 0.0]), 1.0, 2.0, 0.5, -1.0, 0.5)
        # Two vectors of three elements, over components of an array.
        array = mixture_of(FAMILIES["multivariate_normal"]).mean_and_variance(
            (3,), weights, np.stack([CENTRE, -CENTRE]), np.stack([CHOL, CHOL])
        )
    assert mean == pytest.approx(0.3 - 0.7, abs=1e-14)
    second = 0.3 * (1 + 4) + 0.7 * (1 + 0.25 * 5 / 3)
    assert variance == pytest.approx(second - mean**2, rel=1e-14)
    assert np.isinf(endless[1])
    np.testing.assert_allclose(left, (1.0, 4.0))
    np.testing.assert_allclose(array[0], -0.4 * CENTRE, rtol=1e-14)
    np.testing.assert_allclose(array[1], np.diag(COV) + (1 - 0.16) * CENTRE**2, rtol=1e-13)
