"""Fingerprints: the same for the same model, another for any other, none where nobody can tell."""

import subprocess
import sys

import jax.numpy as jnp
import numpy as np
import pytest

import kinetograph as kg
from kinetograph.observables.observable import as_observables
from kinetograph.programs.fingerprint import fingerprint, identity
from kinetograph.programs.program import Program


def text(model, sampler=None, batch=None):
    return fingerprint(Program(model, sampler or kg.samplers.NUTS(), model.targets), batch)


def regression(
    n=30, prior=1.0, family=kg.normal, link=np.exp, index=None, seed=0, lower=None, exponent=2
):
    rng = np.random.default_rng(seed)
    x, y = kg.data(rng.normal(size=n)), kg.data(rng.normal(size=n))
    a = kg.normal(0, prior)
    b = kg.normal(0, 1, shape=4)
    c = kg.variable(lower=lower, upper=9.0)
    places = np.arange(n) % 4 if index is None else index
    mean = link(a) * x + b[places] + c**exponent
    kg.observe(y, family(mean, 1.0))
    return kg.model(a, b, c)


def test_the_same_model_with_other_data_has_the_same_fingerprint():
    assert text(regression(seed=0)) == text(regression(seed=1)) is not None


def groups(index, times, trials):
    """A mixture of groups, and a change point, both at places that are data."""
    z = kg.categorical([0.3, 0.7], shape=3)
    count, when = kg.binomial(kg.data(trials), 0.5), kg.categorical(np.full(4, 0.25))
    mu = kg.normal(0, 1, shape=2)
    kg.observe(np.arange(6.0), kg.normal(mu[z[kg.data(index)]], 1.0))
    kg.observe(np.arange(6.0) ** 2, kg.normal(kg.where(kg.data(times) < when, mu[0], mu[1]), 1.0))
    kg.observe(0.3, kg.normal(count, mu[0] ** 2 + 1.0))
    return kg.model(mu)


def test_data_that_decide_how_discrete_unknowns_are_summed_show():
    pairs, times = np.array([0, 0, 1, 1, 2, 2]), np.arange(6)
    arguments = [(pairs, times, 3), (pairs % 2, times, 3), (pairs, times[::-1], 3)]
    texts = [text(groups(*each)) for each in (*arguments, (pairs, times, 2))]
    assert len(set(texts)) == len(texts)
    assert text(groups(pairs, times, 3)) == texts[0]


OTHERS = {
    "shape": dict(n=31),
    "constant": dict(prior=2.0),
    "family": dict(family=kg.cauchy),
    "operation": dict(link=np.sin),
    "literal index": dict(index=(np.arange(30) + 1) % 4),
    "bound": dict(lower=0.0),
    "other bound": dict(lower=1.0),
    "attribute": dict(exponent=3),
}


def test_any_difference_of_the_models_shows():
    texts = [text(regression()), *(text(regression(**change)) for change in OTHERS.values())]
    assert len(set(texts)) == len(texts)


def test_what_shapes_the_samplers_program_shows():
    model = regression()
    nuts = kg.samplers.NUTS
    texts = [
        text(model),
        text(model, kg.samplers.HMC(step_size=np.ones(model.free_size))),
        text(model, nuts(tune="step_size")),
        text(model, nuts(max_depth=9)),
        text(model, batch=4),
    ]
    assert len(set(texts)) == 5


def test_values_of_hyper_parameters_do_not():
    other = kg.samplers.NUTS(target_acceptance=0.9, step_size=0.1)
    assert text(regression(), other) == text(regression())


def test_targets_show():
    a, b = kg.normal(0, 1), kg.normal(0, 1)
    y = kg.data(0.5)
    kg.observe(y, kg.normal(a + b, 1))
    assert len({text(kg.model(a)), text(kg.model(a, b)), text(kg.model(b, a))}) == 3


class Helped(kg.Sampler):
    step_size = kg.hyper(0.1, positive=True)
    table = kg.hyper((1.0, 2.0), static=True)

    def step(self, at):
        q = at.q - self.step_size * helped(at.gradient) * self.table[0]
        if at.potential > kg.minimum(FACTOR, 9.0):
            q = at.q
        return self.evaluate(q)


def helped(x):
    return x


FACTOR = 1.0
OBSERVED = 2.0


def observed(step):
    return step.potential * OBSERVED


def with_observable(model):
    return Program(model, Helped(), model.targets, as_observables([observed]))


def test_what_a_users_step_does_shows(monkeypatch):
    model = regression(n=3)
    names = {"helped": lambda x: 2 * x, "FACTOR": 3.0, "OBSERVED": 1.0}
    first = with_observable(model)
    assert fingerprint(first, None) == fingerprint(with_observable(model), None) is not None
    assert identity(first) == identity(with_observable(model))
    for name, value in names.items():
        with monkeypatch.context() as patch:
            patch.setitem(globals(), name, value)
            other = with_observable(model)
            assert fingerprint(other, None) != fingerprint(first, None)
            assert identity(other) != identity(first)
    one, half, table = (
        identity(Program(model, Helped(size, table=table), model.targets))
        for size, table in ((1, [1.0]), (0.5, [1.0]), (0.5, [3.0]))
    )
    assert one == half != table


def test_a_users_jax_function_in_a_step_stands_for_itself():
    model, function = regression(n=3), kg.lift(lambda x: jnp.sin(x))

    class Lifted(kg.Sampler):
        turn = staticmethod(function)

        def step(self, at):
            return self.evaluate(self.turn(at.q))

    def program():
        return Program(model, Lifted(), model.targets)

    assert fingerprint(program(), None) is None
    before = identity(program())
    assert before == identity(program())
    Lifted.turn = staticmethod(kg.lift(lambda x: jnp.cos(x)))
    assert before != identity(program())


def test_a_users_function_or_sampler_has_no_fingerprint():
    a = kg.normal(0, 1)
    y = kg.data(0.5)
    kg.observe(y, kg.normal(kg.lift(lambda x: jnp.sin(x))(a), 1))
    assert text(kg.model(a)) is None

    class Mine(kg.samplers.NUTS):
        pass

    assert text(regression(), Mine()) is None


SCRIPT = """
import hashlib, kinetograph as kg
from kinetograph.programs.fingerprint import fingerprint
from kinetograph.programs.program import Program
R = kg.lkj_correlation(2, 3)
b = kg.multivariate_normal(0, chol=kg.cholesky(R), shape=(4, 3))
y = kg.data([1.0, 2.0, 3.0, 4.0])
kg.observe(y, kg.normal(b[:, 0], 1))
m = kg.model(b)
text = fingerprint(Program(m, kg.samplers.NUTS(), m.targets), None)
found = hashlib.sha256(text.encode()).hexdigest()
"""


@pytest.mark.slow
def test_the_fingerprint_is_the_same_in_another_process(tmp_path):
    script = tmp_path / "model.py"
    script.write_text(SCRIPT + "print(found)\n")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    here = {}
    exec(compile(SCRIPT, str(script), "exec"), here)
    assert done.stdout.strip() == here["found"]
