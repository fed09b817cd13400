"""Arrays without elements add nothing to a log density.

At w = 800 and w = -800 parameters are infinite or 0, and so are terms of the densities. The terms
of an array without elements must not become 0 times infinity.
"""

import jax
import numpy as np
import pytest
from scipy import stats

import kinetograph as kg
from kinetograph.distributions.family import FAMILIES
from kinetograph.distributions.variable import distribute
from kinetograph.graph.precision import x64

SHAPES = [(0,), (0, 3), (3, 0)]
AT = [0.3, 800.0, -800.0]
WHOLE = {"size": 5, "m": 5, "n": 5, "k": 5}
PAIRS = {"prob": [0.4, 0.6], "initial": [0.4, 0.6], "cutpoints": [-1.0, 1.0]}
MATRICES = {"transition": [[0.4, 0.6], [0.7, 0.3]]}
EVENTS = {0: None, 1: (2,), 2: (2, 2)}


def parameters(family, w):
    """Parameters of a family; single real numbers are computed from w."""
    share, positive = kg.ilogit(w), kg.exp(w)
    for p in family.parameters:
        if p.event_ndim:
            known = PAIRS if p.event_ndim == 1 else MATRICES
            yield known.get(p.name, np.eye(2) if p.event_ndim == 2 else np.array([0.5, 0.7]))
        elif p.name in ("min", "max"):
            low, high = (1, 4) if family.discrete else (-positive, positive)
            yield low if p.name == "min" else high
        else:
            yield share if p.name in ("prob", "zero") else WHOLE.get(p.name, positive)


def made(family, w, shape):
    event = EVENTS[family.event_ndim]
    whole = (*shape, *(event or ()))
    return distribute(family, tuple(parameters(family, w)), shape=whole, event=event)


def seen(w, distribution):
    kg.observe(np.zeros(distribution.shape, distribution.dtype), distribution)


def a_factor(w, distribution):
    value = np.zeros(distribution.shape, distribution.dtype)
    kg.factor(kg.log_density(distribution, value) + 0.0 * w)


def unknown(w, distribution):
    kg.factor(distribution * 0.5 * kg.exp(w))


def check(*models):
    """Check that only the prior of w contributes, with its slope."""
    for model in models:
        assert model.free_size == 1
        for at in AT:
            wanted = stats.norm.logpdf(at)
            np.testing.assert_allclose(model.log_prob([at]), wanted, rtol=1e-12)
            np.testing.assert_allclose(model.gradient([at]), [-at], rtol=1e-12)


@pytest.mark.parametrize("use", [seen, a_factor, unknown])
def test_every_family(use):
    w = kg.normal(0, 1, name="w")
    for family in FAMILIES.values():
        if use is unknown and family.key.startswith(("hurdle", "zero_inflated")):
            continue  # no unknown follows a density with a mass at one value
        for shape in SHAPES:
            use(w, made(family, w, shape))
    check(kg.model(w))


@pytest.mark.parametrize("use", [seen, a_factor, unknown])
def test_links_mixtures_bounds_and_the_like(use):
    w = kg.normal(0, 1, name="w")
    sd, share = kg.exp(w), kg.ilogit(w)
    for shape in SHAPES:
        for link in (kg.ilogit, kg.iprobit, kg.icloglog, kg.icauchit):
            use(w, kg.bernoulli(link(w), shape=shape))
            use(w, kg.binomial(3, link(w), shape=shape))
        use(w, kg.categorical(kg.softmax(kg.stack([w, -w])), shape=shape))
        for bounds in ((0.0, None), (None, 2.0), (0.0, 2.0)):
            use(w, kg.normal(w, sd, truncation=bounds, shape=shape))
            use(w, kg.gamma(sd, 1.0, truncation=bounds, shape=shape))
        use(w, kg.poisson(sd, truncation=(1, 4), shape=shape))
        shares = kg.stack([share, 1.0 - share])
        use(w, kg.mixture(kg.normal(w, sd), kg.normal(0.0, 1.0), weights=shares, shape=shape))
        use(w, kg.mixture(kg.bernoulli(share), kg.bernoulli(0.3), weights=shares, shape=shape))
        use(w, kg.joint(kg.normal(w, sd), kg.exponential(sd), shape=(*shape, 2)))
        use(w, kg.markov_chain(shares, [[0.4, 0.6], [0.7, 0.3]], 3, shape=(*shape, 3)))
    check(kg.model(w))


def test_a_discrete_unknown_of_what_is_seen():
    p = kg.beta(1, 1, name="p")
    z = kg.bernoulli(p, shape=0)
    kg.observe(np.zeros(0), kg.normal(z, 1.0))
    assert kg.model(p).log_prob({"p": 0.3}, adjusted=False) == pytest.approx(0, abs=1e-15)


def test_discrete_unknowns_with_and_without_elements():
    """Unknowns with elements are marginalised and drawn as usual."""

    def make(shapes):
        w = kg.normal(0, 1, name="w")
        z = kg.bernoulli(kg.ilogit(w), name="z")
        many = kg.bernoulli(kg.ilogit(w), shape=3, name="many")
        kg.observe([0.4, -0.2, 1.0], kg.normal(w + z + many, 1.0))
        means, sds = kg.stack([w, 2.0 * w]), kg.exp(w)
        for shape in shapes:
            none = kg.categorical([0.2, 0.8], shape=shape)
            chain = kg.markov_chain([0.4, 0.6], [[0.4, 0.6], [0.7, 0.3]], 2, shape=(0, 2))
            kg.observe(np.zeros(shape), kg.normal(means[none] + z, sds))
            kg.observe(np.zeros((0, 2)), kg.normal(means[chain] + z, sds))
            together = none[:, :, None] if none.ndim == 2 else none[:, None]
            kg.factor((means[together] * many * z).sum() + none.sum() * w)
        return kg.model(w, z, many)

    whole, plain = make(SHAPES), make([])
    points = np.array([[0.3], [-1.0], [800.0]])
    np.testing.assert_allclose(whole.log_prob(points), plain.log_prob(points), rtol=1e-13)
    np.testing.assert_allclose(whole.gradient(points), plain.gradient(points), rtol=1e-12)
    with x64():
        drawn = [
            jax.jit(lambda free, m=m: m.density.targets(free, m.targets, {}))(points[0])
            for m in (whole, plain)
        ]
    for a, b in zip(*drawn, strict=True):
        np.testing.assert_array_equal(a, b)


def test_pieces_and_compressed_likelihoods():
    w = kg.normal(0, 1, name="w")
    none = kg.normal(0, 1, shape=0)
    nowhere = np.zeros(0, int)
    for _ in range(9):
        kg.observe(np.zeros(0), kg.normal(w, kg.exp(w)))
        kg.observe(np.zeros((0, 2)), kg.poisson(kg.exp(w)))
    kg.observe(np.zeros(0), kg.normal(none[nowhere] + w, kg.exp(w)))
    kg.observe(np.zeros(0), kg.normal(np.zeros((0, 2)) @ kg.stack([w, w]), kg.exp(w)))
    check(kg.model(w))


def test_a_minibatch_beside_an_array_without_elements():
    y = kg.data(np.arange(6.0), "y")
    w = kg.normal(0, 1, name="w")
    kg.observe(y, kg.normal(w, 1.0))
    kg.observe(np.zeros((0, 3)), kg.normal(w, kg.exp(w)))
    model = kg.minibatch(kg.model(w), 6)
    with x64():
        bound = model.bind(model.argument_values)._replace(rows=np.arange(6))
        found = bound.log_density(np.array([0.3]))
    wanted = stats.norm.logpdf(np.arange(6.0), 0.3).sum() + stats.norm.logpdf(0.3)
    assert float(found) == pytest.approx(wanted, rel=1e-12)
