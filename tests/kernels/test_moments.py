"""Running moments are NumPy's mean and covariance, with weights where the old is forgotten."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import kinetograph as kg

# Far from 0 for its spread: sums of squares would keep half of the digits.
VALUES = 1e6 + np.random.default_rng(1).normal(size=(300, 3)) @ np.array(
    [[1.0, 0.5, 0.0], [0.0, 2.0, 1.0], [0.0, 0.0, 0.1]]
)


def fed(values, **options):
    moments = kg.Moments.start(values[0], **options)
    for value in values:
        moments = moments.add(value)
    return moments


def close(found, expected):
    # n rounding errors of 1e6 * 2^-53 in deviations of 1
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)


def test_they_are_numpys():
    plain, full = fed(VALUES), fed(VALUES, covariance=True)
    assert plain.count == full.count == 300
    with np.errstate(invalid="ignore"):
        for few in (kg.Moments.start(VALUES[0]), fed(VALUES[:1])):
            assert np.isnan(few.variance).all()
        assert np.isnan(fed(VALUES[:1], forget=0.1).variance).all()
    np.testing.assert_allclose(plain.mean, VALUES.mean(0), rtol=1e-14)
    close(plain.variance, VALUES.var(0, ddof=1))
    close(full.variance, VALUES.var(0, ddof=1))
    close(full.covariance, np.cov(VALUES.T))
    np.testing.assert_array_equal(full.covariance, full.covariance.T)
    centred = VALUES - 1e6
    np.testing.assert_allclose(
        fed(centred, covariance=True).covariance, np.cov(centred.T), rtol=1e-11
    )
    close(fed(VALUES[:, 0]).variance, VALUES[:, 0].var(ddof=1))


def test_each_row_of_a_stack_has_its_own_covariance():
    stack = np.random.default_rng(2).normal(size=(50, 4, 3))
    found = fed(stack, covariance=True).covariance
    for i in range(4):
        np.testing.assert_allclose(found[i], np.cov(stack[:, i].T), rtol=1e-11, atol=1e-14)


def test_what_is_old_is_forgotten_by_its_weight():
    values, weights = VALUES - 1e6, 0.9 ** np.arange(300)[::-1]
    moments = fed(values, covariance=True, forget=0.1)
    np.testing.assert_allclose(moments.count, weights.sum(), rtol=1e-13)
    np.testing.assert_allclose(
        moments.mean, np.average(values, axis=0, weights=weights), rtol=1e-11
    )
    np.testing.assert_allclose(moments.covariance, np.cov(values.T, aweights=weights), rtol=1e-11)
    few = fed(values[:4], forget=0.1).variance
    np.testing.assert_allclose(
        few, np.diag(np.cov(values[:4].T, aweights=0.9 ** np.arange(4)[::-1])), rtol=1e-12
    )
    np.testing.assert_allclose(fed(values, forget=0.0).variance, fed(values).variance, rtol=1e-11)


def test_in_jax_and_in_a_graph():
    values = VALUES[:20] - 1e6
    with jax.enable_x64(True):
        begun = kg.Moments.start(jnp.asarray(values[0]))
        traced, _ = jax.lax.scan(
            lambda moments, x: (moments.add(x), None),
            jax.tree.map(jnp.asarray, begun),
            jnp.asarray(values),
        )
        found = traced.variance
    np.testing.assert_allclose(found, values.var(0, ddof=1), rtol=1e-12)

    @kg.function
    def variance(rows):
        moments = kg.Moments.start(rows[0], covariance=True)
        for row in rows:
            if row[0] < 1.0:
                moments = moments.add(row)
        return moments.variance, moments.covariance

    chosen = values[values[:, 0] < 1.0]
    each, full = variance(values)
    np.testing.assert_allclose(each, chosen.var(0, ddof=1), rtol=1e-12)
    np.testing.assert_allclose(full, np.cov(chosen.T), rtol=1e-11)


def test_they_are_a_slot_of_a_sampler():
    class Walk(kg.Sampler):
        forget = kg.hyper(0.1, lower=0)

        def init(self, at):
            return {
                "seen": kg.Moments.start(at.q, covariance=True),
                "lately": kg.Moments.start(at.q, forget=self.forget),
                "moved": 0,
            }

        def step(self, at, seen, lately, moved):
            new = self.evaluate(at.q + self.noise("walk", like=at.q))
            if kg.log(self.noise.uniform(name="accept")) < at.potential - new.potential:
                at, moved = new, moved + 1
                lately = lately.add(at.q)
            self.record("spread", seen.count)
            return at, {"seen": seen.add(at.q), "lately": lately, "moved": moved}

    x = kg.normal(1.0, [1.0, 2.0], shape=2, name="x")
    model = kg.model(x)
    spread = kg.observables.observable(lambda step: step.slots["seen"].variance, "spread_of_x")
    chain = kg.chain(model, Walk(), seed=1, observables=spread)
    rows, found = chain.step(300)
    rows = rows["x"]
    np.testing.assert_allclose(found["spread_of_x"][-1], rows.var(0, ddof=1), rtol=1e-10)
    seen, lately = chain.slots["seen"], chain.slots["lately"]
    np.testing.assert_allclose(seen.covariance, np.cov(rows.T), rtol=1e-10)
    moved = np.concatenate([[True], np.any(np.diff(rows, axis=0) != 0, axis=1)])
    moved = rows[moved][-int(chain.slots["moved"]) :]
    weights = 0.9 ** np.arange(len(moved))[::-1]
    np.testing.assert_allclose(lately.mean, np.average(moved, axis=0, weights=weights), rtol=1e-10)
    # It may be set, whole, and goes on from there.
    chain.slots["seen"] = kg.Moments.start(np.zeros(2), covariance=True)
    rows = chain.step(50).posterior["x"]
    np.testing.assert_allclose(chain.slots["seen"].mean, rows.mean(0), rtol=1e-10)
    with pytest.raises(TypeError, match=r"slot 'seen' is Moments of count.*got Moments"):
        chain.slots["seen"] = seen._replace(forget=0.1)
    with pytest.raises(kg.ShapeError, match=r"slot 'seen.mean' has shape \(2,\), got \(3,\)"):
        chain.slots["seen"] = seen._replace(mean=np.zeros(3))


def test_what_is_refused():
    with pytest.raises(kg.ShapeError, match="covariance of a number is its variance"):
        kg.Moments.start(1.0, covariance=True)
    with pytest.raises(ValueError, match="forget must be from 0 to below 1"):
        kg.Moments.start(1.0, forget=1.5)
    with pytest.raises(kg.ShapeError, match=r"the values have shape \(3,\), got \(\)"):
        kg.Moments.start(np.zeros(3)).add(1.0)
    with pytest.raises(AttributeError, match="keep variances only"):
        _ = fed(VALUES).covariance

    class Forgetful(kg.Sampler):
        def init(self, at):
            return {"seen": kg.Moments.start(at.q)}

        def step(self, at, seen):
            return at, {"seen": seen.mean}

    with pytest.raises(TypeError, match=r"Forgetful\.step: slot 'seen' is Moments of count, mean"):
        kg.chain(kg.model(kg.normal(0, 1, name="x")), Forgetful(), seed=1)
