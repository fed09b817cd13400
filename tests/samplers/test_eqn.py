"""Preconditioning by the other groups of an ensemble, against NumPy and exact laws."""

import numpy as np
import pytest
from scipy import linalg
from tests.laws.helpers import assert_mean, ess
from tests.samplers.kernels import series, transitions
from tests.selection import thinned

import kinetograph as kg
from kinetograph import samplers
from kinetograph.samplers.ensemble_factor import ensemble_factor
from kinetograph.samplers.eqn import _InsideEnsemble

EQN = samplers.EQN
PRECISION = np.array([[2.0, 0.7, 0.1], [0.7, 1.0, 0.2], [0.1, 0.2, 0.5]])


def normal(q):
    return -0.5 * q @ PRECISION @ q


def slope(q):
    return q @ PRECISION


LABELS = np.array([0, 1, 0])


def factor(others, eta, covariance):
    """B of the definition, by SciPy."""
    c = np.cov(others.T)
    if covariance == "diagonal":
        c = np.diag(np.diag(c))
    if covariance == "blocks":
        c = c * (LABELS[:, None] == LABELS)
    if covariance == "low-rank":
        values, vectors = np.linalg.eigh(c)
        c = (vectors[:, 1:] * values[1:]) @ vectors[:, 1:].T
        return linalg.sqrtm(np.eye(3) + eta * c)
    return linalg.cholesky(np.eye(3) + eta * c, lower=True)


def frozen(scheme, q, p, b, h):
    """One step without noise; each row of q and p is a walker."""
    if scheme == "SGLD":
        return q - h * slope(q) @ b @ b.T, p
    kicks = {"BAOAB": (0.5, 0.5), "GLA2": (0.5, 0.5), "GLA1": (1.0, 0.0)}[scheme]
    p = p - kicks[0] * h * slope(q) @ b
    q = q + h * p @ b.T
    return q, p - kicks[1] * h * slope(q) @ b


CASES = [
    ("BAOAB", samplers.BAOAB(0.2, friction=0.0), "full", 2),
    ("SGLD", samplers.SGLD(0.02), "diagonal", 3),
    ("GLA2", samplers.GLA2(0.2, friction=0.0), "full", 3),
    ("GLA1", samplers.GLA1(0.2, friction=0.0), "diagonal", 2),
    ("GLA2", samplers.Splitting("OBABO", 0.2, friction=0.0), "full", 2),
    ("BAOAB", samplers.BAOAB(0.2, friction=0.0), "low-rank", 2),
    ("GLA2", samplers.GLA2(0.2, friction=0.0), "blocks", 3),
]


@pytest.mark.parametrize(("scheme", "sampler", "covariance", "groups"), thinned(CASES, 7))
def test_a_step_is_numpys(scheme, sampler, covariance, groups):
    """Without noise and from rest: each group in turn, by the covariance of all others then."""
    walkers, eta, steps = 6, 3.0, 4
    made = EQN(sampler, walkers=walkers, groups=groups, eta=eta, steps=steps, covariance=covariance)
    made.rank, made.blocks = 2, tuple(LABELS) if covariance == "blocks" else ()
    start = np.random.default_rng(0).normal([5.0, 0.0, 0.0], size=(3, walkers, 3))
    found, _ = transitions(made, normal, start, small=True, inverse_temperature=1e300)
    size, h = walkers // groups, sampler.step_size
    for q, after in zip(start.copy(), found, strict=True):
        for place in range(0, walkers, size):
            group = slice(place, place + size)
            b = factor(np.delete(q, group, axis=0), eta, covariance)
            p = np.zeros((size, 3))
            for _ in range(steps):
                q[group], p = frozen(scheme, q[group], p, b, h)
        np.testing.assert_allclose(after, q, rtol=1e-10, atol=1e-10)


def test_noise_has_the_covariance_of_the_factor():
    """SGLD's group that moves first: B^-1 (q' - mean) / sqrt(2 h / beta) is white.

    It has 3 means and 6 second moments: with a limit of 5.5 it fails by chance with probability
    below 4e-7.
    """
    h, beta, eta = 0.01, 2.0, 50.0
    scheme = samplers.SGLD(h, inverse_temperature=beta)
    start = np.random.default_rng(1).normal(size=(6, 3)) @ np.diag([1.0, 10.0, 0.1])
    found, _ = transitions(
        EQN(scheme, walkers=6, eta=eta, steps=1), normal, start, repeat=4000, small=True
    )
    b = factor(start[3:], eta, "full")
    mean, _ = frozen("SGLD", start[:3], None, b, h)
    white = np.linalg.solve(b, (found[:, :3] - mean)[..., None])[..., 0] / np.sqrt(2 * h / beta)
    rows = white.reshape(-1, 3)
    i, j = np.triu_indices(3)
    moments = np.concatenate([rows, rows[:, i] * rows[:, j]], 1)
    truth = np.array([0, 0, 0, 1, 0, 0, 1, 0, 1.0])
    error = (moments.mean(0) - truth) / (moments.std(0, ddof=1) / np.sqrt(len(rows)))
    assert np.abs(error).max() < 5.5


class AllAtOnce(EQN):
    """All walkers move at once, by the covariance of all."""

    def step(self, at, **slots):
        factor, _ = self._factor(at.q)
        inside = _InsideEnsemble(self, at, factor)
        point, slots = inside.step(inside.start, slots)
        return inside.left(point), slots


@pytest.mark.slow
def test_moments_of_few_walkers_are_exact():
    """BAOAB has exact positions; where walkers are in their own covariance they have not."""
    scheme = samplers.BAOAB(0.1, friction=3.0)
    start = np.random.default_rng(0).normal(size=(8, 4, 1))

    def squares(kind):
        made = kind(scheme, walkers=4, eta=10.0, steps=1)
        q = series(made, lambda q: -0.5 * (q * q).sum(), start, 4000)
        return (q[..., 0] ** 2).mean(-1)

    assert_mean(squares(EQN), 1.0, what="<q^2>")
    with pytest.raises(AssertionError, match="is off by"):
        assert_mean(squares(AllAtOnce), 1.0, what="<q^2>")


@pytest.mark.slow
@pytest.mark.parametrize("transposed", [False, True])
def test_moments_of_correlated_unknowns(transposed, monkeypatch):
    """Exact; but not where the drift goes by B^T and the kick by B."""
    if transposed:
        monkeypatch.setattr(
            _InsideEnsemble, "place", lambda self, y: self.origin + y @ self.factor.matrix
        )
    start = np.random.default_rng(0).normal(size=(8, 6, 3))
    made = EQN(samplers.BAOAB(0.2, friction=2.0), walkers=6, eta=1.0, steps=5)
    q = series(made, normal, start, 4000)
    with np.errstate(all="ignore"):  # of walkers that heat each other
        squares = (q * slope(q)).sum(-1).mean(-1) / 3
        if not transposed:
            assert_mean(squares, 1.0, what="<q K q> / 3")
        else:
            with pytest.raises(AssertionError, match=r"is off by|ESS nan"):
                assert_mean(squares, 1.0, what="<q K q> / 3")


@pytest.mark.slow
def test_scales_that_differ_by_a_thousand():
    """Precisions 1 and 1e-6: both coordinates are as exact, and as quickly forgotten."""
    precisions = np.array([1.0, 1e-6])
    start = np.random.default_rng(0).normal(size=(4, 20, 2)) / np.sqrt(precisions)
    made = EQN(samplers.BAOAB(0.15, friction=2.0), walkers=20, eta=10.0, steps=5)
    q = series(made, lambda q: -0.5 * (precisions * q * q).sum(), start, 1500)
    squares = precisions * q * q
    for i in range(2):
        assert_mean(squares[..., i].mean(2), 1.0, what=f"k <q^2> of coordinate {i}")
    # Correlations of each walker's own series; without preconditioning they differ by a million.
    narrow, wide = (np.mean([ess(q[:, :, j, i]) for j in range(5)]) for i in range(2))
    assert 0.5 < wide / narrow < 2


ISOTROPIC = [
    (samplers.BAOAB(0.15, friction=2.0), 1.0),
    (samplers.GLA2(0.15, friction=2.0), None),
    (samplers.Splitting("OBABO", 0.15, friction=2.0), None),
    (samplers.SGLD(0.01), None),
]


@pytest.mark.slow
@pytest.mark.parametrize(("scheme", "exact"), ISOTROPIC)
def test_anisotropic_is_as_isotropic(scheme, exact):
    """Precisions from 1 to 1e-6 and all alike: the same moments, and at most twice the time."""
    made = EQN(scheme, walkers=40, eta=10.0, steps=5)
    found = []
    for precisions in (np.array([1.0, 1e-2, 1e-6]), np.ones(3)):
        start = np.random.default_rng(0).normal(size=(4, 40, 3)) / np.sqrt(precisions)

        def log_density(q, k=precisions):
            return -0.5 * (k * q * q).sum()

        found.append(np.sqrt(precisions) * series(made, log_density, start, 4000))
    for i in range(3):
        a, b = ((q[..., i] ** 2).mean(2) for q in found)
        if exact is not None:
            assert_mean(a, exact, what=f"k <q^2> of coordinate {i}")
        # Second moments are those of the scheme at its step, which is small.
        assert a.mean() == pytest.approx(1.0, abs=0.1)
        assert b.mean() == pytest.approx(1.0, abs=0.1)
        slow, quick = (np.mean([ess(q[:, :, j, i]) for j in range(5)]) for q in found)
        assert slow > 0.5 * quick


@pytest.mark.slow
def test_without_eta_walkers_are_alone():
    """Others elsewhere, at the same seed: a walker's places are the same."""
    made = EQN(samplers.SGLD(0.02), walkers=6, eta=0.0, steps=2)
    rng = np.random.default_rng(2)
    start = np.repeat(rng.normal(size=(1, 6, 3)), 2, axis=0)
    start[1, 3:] += 10.0
    found = series(made, normal, start, 3, seed=1)
    alone = series(made, normal, start[1:], 3, seed=1)
    np.testing.assert_allclose(alone[0, :, :3], found[0, :, :3], rtol=1e-12)
    assert np.abs(alone[0, :, 3:] - found[0, :, 3:]).min() > 1


def test_blocks_are_of_each_unknown_by_itself():
    """A step of SGLD without noise, by NumPy: C has zeros between x and y."""
    x = kg.normal(0.0, 1.0, shape=2, name="x")
    y = kg.normal(x[0] + x[1], 1.0, name="y")
    h, eta = 0.05, 3.0
    made = EQN(samplers.SGLD(h), walkers=6, eta=eta, steps=1, covariance="blocks")
    start = np.random.default_rng(4).multivariate_normal(np.zeros(3), PRECISION + 1.0, size=6)
    chain = kg.chain(kg.model(x, y), made, seed=1, initial=start)
    chain.hyper["inverse_temperature"] = 1e300
    chain.step(1)
    q, apart = start.copy(), np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1]])
    for group, others in ((slice(0, 3), slice(3, 6)), (slice(3, 6), slice(0, 3))):
        matrix = np.eye(3) + eta * apart * np.cov(q[others].T)
        over = q[group, 2] - q[group, 0] - q[group, 1]
        slopes = np.stack([q[group, 0] - over, q[group, 1] - over, over], axis=1)
        q[group] = q[group] - h * slopes @ matrix
    np.testing.assert_allclose(chain.q, q, rtol=1e-10)


def test_a_factor_that_fails_has_a_smaller_eta():
    """Two equal coordinates and a weight of 1e20: 1 is lost in the sum, and the factor is NaN."""
    q = np.random.default_rng(5).normal(size=(4, 3)) * [1.0, 1.0, 1e-3]
    q[:, 1] = q[:, 0]
    results = {}
    for structure in ("full", "low-rank"):
        factor, eta = ensemble_factor(kg.data(q), kg.data(1e20), structure, labels=LABELS, rank=2)
        parts = [part for part in factor if part is not None]
        results[structure] = [np.asarray(v) for v in kg.compile([], [*parts, eta])()]
    matrix, eta = results["full"]
    bound = 1 / (8 * 3 * np.finfo(float).eps) / np.trace(np.cov(q.T))
    assert eta == pytest.approx(bound, rel=1e-12)
    np.testing.assert_allclose(matrix @ matrix.T, np.eye(3) + bound * np.cov(q.T), rtol=1e-6)
    assert results["low-rank"][-1] == 1e20  # has no such limit


def test_blocks_need_a_label_of_each_coordinate():
    made = EQN(samplers.SGLD(0.1), walkers=6, covariance="blocks", blocks=(0, 1))
    with pytest.raises(kg.ShapeError, match=r"EQN: blocks: expected 3 labels.*got .*2"):
        kg.chain(kg.model(kg.normal(0.0, 1.0, shape=3, name="x")), made, seed=1).step(1)


@pytest.mark.slow
def test_a_run():
    """The settings of the scheme are arguments of the program; blocks are of each unknown."""
    x = kg.normal(np.zeros(2), np.array([1.0, 30.0]), name="x")
    y = kg.normal(0.0, 5.0, name="y")
    model = kg.model(x, y)
    scheme = samplers.BAOAB(0.2, friction=1.0)
    made = EQN(scheme, walkers=6, eta=2.0, covariance="blocks")
    chain = kg.chain(model, made, seed=1)
    rows = chain.step(3)
    assert rows.posterior["x"].shape == (3, 6, 2)
    energy = rows.sample_stats["kinetic_energy"]
    np.testing.assert_allclose(energy[-1], 0.5 * (chain.slots["p"] ** 2).sum(1))
    assert (rows.sample_stats["unpreconditioned"] == 0).all()
    assert set(chain.hyper) == {"step_size", "friction", "inverse_temperature", "eta", "steps"}
    # In no time nothing moves.
    before = chain.q
    chain.hyper = {"step_size": 1e-300}
    chain.step(2)
    np.testing.assert_allclose(chain.q, before, rtol=1e-12)
    # Walkers without bounds have no preconditioner, and the others go on.
    chain.hyper = {"step_size": 0.2}
    chain.slots["p"] = np.repeat([np.inf, 0.0], 9).reshape(6, 3)
    rows = chain.step(1)
    assert rows.sample_stats["unpreconditioned"][0] == 1
    assert np.isfinite(chain.q[3:]).all()


@pytest.mark.slow
def test_scale_is_the_schemes():
    """Coordinates in the scheme's scale, and the same of the whole: the same places, scaled."""
    scale = np.array([2.0, 1.0, 0.5])
    start = np.random.default_rng(3).normal(size=(2, 4, 3))
    scheme = samplers.SGLD(0.02, scale=scale)
    scaled = series(EQN(scheme, walkers=4, steps=2), normal, start, 3)
    plain = series(
        EQN(samplers.SGLD(0.02), walkers=4, steps=2), lambda q: normal(q * scale), start / scale, 3
    )
    np.testing.assert_allclose(scaled, plain * scale, rtol=1e-10)


def test_what_makes_no_sense_is_refused():
    for bad in (samplers.NUTS(), samplers.MALA(), samplers.Stretch(), "BAOAB", EQN()):
        with pytest.raises(TypeError, match=r"must be one of SGLD, LM, .*; got"):
            EQN(bad)
    for walkers, groups in ((7, 2), (10, 4)):
        with pytest.raises(ValueError, match=f"got {walkers} walkers in {groups} groups"):
            EQN(walkers=walkers, groups=groups)
    with pytest.raises(ValueError, match="eta must be at least 0"):
        EQN(eta=-1.0)
    with pytest.raises(TypeError, match=r"give scale to the sampler, BAOAB\(scale="):
        EQN(scale=2.0)
    made = EQN(samplers.Splitting("OBABO", 0.2), walkers=6, eta=3.0)
    assert repr(made) == "EQN(Splitting(word='OBABO', step_size=0.2), walkers=6, eta=3.0)"
    assert made == EQN(samplers.Splitting("OBABO", 0.2), walkers=6, eta=3.0)
    assert made != EQN(samplers.Splitting("OBABO", 0.3), walkers=6, eta=3.0)
    assert made.settings()["sampler"] == "Splitting"
    assert made.settings()["step_size"] == 0.2
