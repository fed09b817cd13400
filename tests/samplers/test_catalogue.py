"""The samplers of the catalogue against exact stationary moments on U = q^2 / 2.

beta = 1.3, gamma = 1.5 / sqrt(2), h = 0.4 sqrt(2), for overdamped schemes 0.8: as on U = q^2 with
gamma = 1.5 and h = 0.4. The values solve the discrete Lyapunov equation of each scheme (the closed
forms are in the samplers' own texts): beta <q^2>, beta <p^2> and beta <q p>.

The models are those of the samplers' examples, whose compiled programs they share.
"""

import inspect

import mpmath
import numpy as np
import pytest
from tests.laws.helpers import assert_mean, assert_moments
from tests.selection import thinned

import kinetograph as kg
from kinetograph import samplers

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")

BETA, GAMMA, H = 1.3, 1.5 / np.sqrt(2), 0.4 * np.sqrt(2)
LANGEVIN = {"step_size": H, "friction": GAMMA, "inverse_temperature": BETA}
OVERDAMPED = {"step_size": 0.8, "inverse_temperature": BETA}

EXACT = {
    "SGLD": (samplers.SGLD(**OVERDAMPED), 1.6667, None),
    "LM": (samplers.LM(**OVERDAMPED), 1.0, None),
    "GLA1": (samplers.GLA1(**LANGEVIN), 0.863622, 1.034700),
    "GLA2": (samplers.GLA2(**LANGEVIN), 1.086957, 1.0),
    "BAOAB": (samplers.BAOAB(**LANGEVIN), 1.0, 0.92),
    "UBU": (samplers.UBU(**LANGEVIN), 0.947152, 1.027086),
    "SGHMC": (samplers.SGHMC(**LANGEVIN), 1.129032, 1.612903),
    **{
        word: (samplers.Splitting(word, **LANGEVIN), q, p)
        for word, q, p in (
            ("ABO", 1.495868, 1.060103),
            ("BABO", 1.086957, 1.0),
            ("OBABO", 1.086957, 1.0),
            ("BAOAB", 1.0, 0.92),
            ("ABOBA", 1.0, 1.086957),
            ("OABAO", 0.92, 1.0),
            ("BOAOB", 1.131968, 1.007685),
            ("AOBOA", 1.045339, 1.082872),
        )
    },
}


def oscillator(shape=()) -> kg.Model:
    x = kg.normal(0.0, 1.0, shape=shape, name="x")
    return kg.model(x)


MODEL = oscillator()


def sampled(sampler, model=MODEL, **options):
    settings = {"draws": 20_000, "warmup": 100, "chains": 4, "seed": 1, "progress": False}
    return kg.mcmc(model, sampler, **(settings | options))


# The words are of one class, of which one is compared with the class of its name every day.
WORDS = ["ABO", "OBABO", "BOAOB", "BABO", "BAOAB", "ABOBA", "OABAO", "AOBOA"]


@pytest.mark.parametrize(
    "name",
    [name for name in EXACT if name not in WORDS]
    + [pytest.param(word, marks=pytest.mark.slow) for word in WORDS],
)
def test_moments_at_a_finite_step(name):
    sampler, square, kinetic = EXACT[name]
    tree = sampled(sampler)
    q = tree["posterior"]["x"].values
    assert_mean(BETA * q * q, square, what=f"{name}: beta <q^2>")
    if kinetic is not None:
        energy = tree["sample_stats"]["kinetic_energy"].values
        assert_mean(2 * BETA * energy, kinetic, what=f"{name}: beta <p^2>")


@pytest.mark.slow
def test_the_control_of_moments():
    """Noise that is a tenth too small."""

    class Cold(samplers.GLA2):
        @property
        def noise(self):
            made = super().noise
            return lambda name, like: 0.9 * made(name, like=like)

    q = sampled(Cold(**LANGEVIN))["posterior"]["x"].values
    with pytest.raises(AssertionError, match="is off by"):
        assert_mean(BETA * q * q, EXACT["GLA2"][1])


EACH_STEP = ["SGLD", "LM", "GLA1", "GLA2", "BAOAB", "SGHMC", "UBU"]
EACH_STEP += [
    pytest.param(word, marks=pytest.mark.slow) for word in ("OBABO", "ABOBA", "OABAO", "AOBOA")
]


@pytest.mark.parametrize("name", EACH_STEP)
def test_one_gradient_a_step(name):
    """Also where the row is of another place than the kick: there the potential is enough."""
    tree = sampled(EXACT[name][0], draws=50, warmup=0, chains=1)
    state = tree["sampler_state"]
    assert int(state["gradients"][0] - state["start_gradients"][0]) == 50
    # The gradient that a chain goes on with is that of its place, all the same.
    (q,), (gradient,) = state["position_q"].values, state["position_gradient"].values
    np.testing.assert_allclose(gradient, MODEL.gradient(q), rtol=1e-12)


# The mean square of the noise of a step, times beta / 2; a = exp(-gamma h / 2). Of UBU, half a step
# has the noise of q of Var xi_q = 2 / gamma (h / 2 - 2 (1 - a) / gamma + (1 - a^2) / (2 gamma)).
A = np.exp(-GAMMA * H / 2)
ADDED = {
    "UBU": 2 * (1 - A**2) + 4 / GAMMA * (H / 2 - 2 * (1 - A) / GAMMA + (1 - A**2) / 2 / GAMMA),
    "OBABO": 2 * (1 - A**2),
    "BAOAB": 1 - A**4,
    "GLA1": 1 - A**4,
    "GLA2": 1 - A**4,
    "SGHMC": 2 * GAMMA * H,
    "SGLD": 2 * 0.8,
    "LM": 0.8,
}


@pytest.mark.parametrize("name", ADDED)
@pytest.mark.slow
def test_the_noise_of_a_step(name):
    """Within 5 errors of a mean of squares of normal numbers; LM's neighbours share numbers."""
    asked = {"observables": kg.observables.noise_norm}
    rows = kg.chain(oscillator(2), EXACT[name][0], seed=1, **asked).step(4000).sample_stats
    square, exact = rows["noise_norm"] ** 2, 2 * ADDED[name] / BETA
    assert abs(square.mean() / exact - 1) < 5 * np.sqrt((2 if name == "LM" else 1) / 2000)


def test_ubu_without_friction_is_drift_kick_drift():
    """And with little friction hardly anything else: nothing divides by it."""
    k, h = 2.0, 0.3
    q = kg.variable(name="q", shape=2)
    model = kg.model(q, factors=[-0.5 * k * kg.sum(q * q)])
    ends = []
    for friction in (0.0, 1e-14):
        sampler = samplers.UBU(h, friction=friction)
        chain = kg.chain(model, sampler, seed=1, initial=[1.0, -0.5])
        place, p = chain.q, chain.slots["p"]
        for _ in range(10):
            place = place + 0.5 * h * p
            p = p - h * k * place
            place = place + 0.5 * h * p
        chain.step(10)
        ends.append((chain.q, chain.slots["p"]))
        np.testing.assert_allclose(
            ends[-1], (place, p), rtol=0, atol=1e-12 if not friction else 1e-5
        )


def flow_by_mpmath(x, gamma):
    """Covariances of dq = p dt, dp = -gamma p dt + sqrt(2 gamma / beta) dW at t = x / gamma.

    They are var q, var p and cov (q, p).
    """
    with mpmath.workdps(50):
        x, gamma = mpmath.mpf(x), mpmath.mpf(gamma)
        lost, lost_twice = 1 - mpmath.exp(-x), 1 - mpmath.exp(-2 * x)
        var_q = (2 * x - 4 * lost + lost_twice) / gamma**2
        return [float(v / BETA) for v in (var_q, lost_twice, lost**2 / gamma)]


def test_the_noise_of_ubu_has_the_covariance_of_its_flow():
    """With given numbers as the noise of half a step that begins at 0.

    Below x = 1e-2 a series computes the variance.
    """
    flows, exact, gamma = [], [], 1.7
    for x in (1e-5, 9e-3, 1.1e-2, 0.3, 1.0, 8.0):
        exact.append(flow_by_mpmath(x, gamma))
        for numbers in np.eye(2):
            given = iter(numbers)

            class Given(samplers.UBU):
                noise = property(lambda self, given=given: lambda name, like: next(given))

            flows += Given(2 * x / gamma, gamma, BETA)._flow(0.0, 0.0)[:2]
    ends = np.reshape(kg.compile([], flows)(), (-1, 2, 2))
    q, p = ends[..., 0], ends[..., 1]
    found = np.stack([(q * q).sum(1), (p * p).sum(1), (q * p).sum(1)], axis=1)
    np.testing.assert_allclose(found, exact, rtol=1e-6)


def test_a_word_is_the_class_of_its_name():
    word = sampled(samplers.Splitting("BAOAB", **LANGEVIN), draws=50, chains=1)
    named = sampled(samplers.BAOAB(**LANGEVIN), draws=50, chains=1)
    np.testing.assert_allclose(
        word["posterior"]["x"].values, named["posterior"]["x"].values, rtol=1e-9, atol=1e-12
    )


ADJUSTED = {
    "HMC": samplers.HMC(n_steps=4, step_jitter=0.2),
    "HMC, minimum_norm": samplers.HMC(n_steps=3, integrator="minimum_norm"),
    "HMC, bcss3": samplers.HMC(n_steps=2, integrator="bcss3"),
    "GHMC": samplers.GHMC(n_steps=2),
    "MALA": samplers.MALA(),
    "RandomWalk": samplers.RandomWalk(),
    "RandomWalk, uniform": samplers.RandomWalk(proposal="uniform"),
    "MAMS": samplers.MAMS(),
    "MAMS, bcss2": samplers.MAMS(integrator="bcss2"),
    "NUTS, minimum_norm": samplers.NUTS(integrator="minimum_norm"),
}
# Of HMC the law of its acceptance says so every day, too, and of GHMC the test of its flip.
LIKE_ANOTHER = {"HMC", "HMC, minimum_norm", "HMC, bcss3", "RandomWalk", "GHMC", "MAMS, bcss2"}
LIKE_ANOTHER |= {"NUTS, minimum_norm", "RandomWalk, uniform"}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow) if name in LIKE_ANOTHER else name
        for name in ADJUSTED
    ],
)
def test_adjusted_samplers_are_exact(name):
    """A correlated Gaussian and a skewed unknown."""
    tree = kg.mcmc(SKEWED, ADJUSTED[name], draws=8000, warmup=800, chains=4, seed=2, progress=False)
    assert_moments(tree["posterior"]["x"].values, [1.0, -2.0], [1.0, 2.0])
    assert_mean(tree["posterior"]["rate"].values, 1.5)
    rate = float(tree["sample_stats"]["acceptance_rate"].mean())
    target = ADJUSTED[name].target_acceptance
    assert rate == pytest.approx(target, abs=0.12)


def skewed() -> kg.Model:
    x = kg.multivariate_normal([1.0, -2.0], [[1.0, 0.6], [0.6, 4.0]])
    rate = kg.gamma(3.0, 2.0)
    return kg.model(x, rate)


SKEWED = skewed()


@pytest.mark.slow
def test_an_integrator_that_is_set_later_may_be_given_by_name():
    sampler = samplers.HMC()
    sampler.integrator = "bcss2"
    assert sampler.integrator is samplers.HMC(integrator="bcss2").integrator
    with pytest.raises(ValueError, match=r"HMC: integrator must be 'leapfrog'.* got 'euler'"):
        sampler.integrator = "euler"


@pytest.mark.parametrize("integrator", thinned(["bcss3", "leapfrog"], 2))
def test_hmc_keeps_single_precision(integrator):
    with kg.precision("float32"):
        x = kg.normal(0, 1, shape=2)
        model = kg.model(x)
    sampler = samplers.HMC(0.1, n_steps=3, integrator=integrator, tune=())
    rows = kg.chain(model, sampler, seed=1).step(5)
    assert rows.posterior["x"].dtype == np.float32
    assert (np.abs(rows.sample_stats["energy_error"]) < 0.05).all()


@pytest.mark.parametrize("beta", [0.25, 4.0])
@pytest.mark.parametrize("kind", [samplers.HMC, samplers.MALA, samplers.RandomWalk, samplers.GHMC])
@pytest.mark.slow
def test_adjusted_samplers_at_a_temperature(kind, beta):
    tree = sampled(kind(inverse_temperature=beta), draws=20_000, warmup=800)
    q = tree["posterior"]["x"].values
    assert_mean(beta * q * q, 1.0)


class Unflipped(samplers.GHMC):
    """The control: momenta are kept on rejection."""

    def step(self, at, p):
        new, after = super().step(at, p)
        moved = kg.sum(kg.abs(new.q - at.q)) > 0
        return new, {"p": kg.where(moved, after["p"], -after["p"])}


@pytest.mark.parametrize("kind", thinned([samplers.GHMC, Unflipped], 2))
def test_ghmc_is_exact_by_its_flip(kind):
    """At a step size that is often rejected."""
    # In units of the standard deviation: h = 1.3 sqrt(2), gamma = 0.1 sqrt(2).
    sampler = kind(step_size=2.6 * np.sqrt(2), friction=0.05 * np.sqrt(2))
    tree = sampled(sampler, kg.model(kg.normal(1.0, 2.0, name="x")), warmup=0, draws=80_000)
    squares = ((tree["posterior"]["x"].values - 1) / 2) ** 2
    if kind is samplers.GHMC:
        assert_mean(squares, 1.0)
    else:
        assert squares.mean() > 1.5


def test_microcanonical_steps():
    """Directions stay unit vectors; moments of the oscillator at a small step."""
    model = oscillator(10)
    tree = sampled(samplers.MCLMC(step_size=0.42), model, draws=10_000)
    u = tree["sampler_state"]["slots_u"].values
    np.testing.assert_allclose(np.linalg.norm(u, axis=-1), 1.0, rtol=1e-12)
    assert float((tree["posterior"]["x"] ** 2).mean()) == pytest.approx(1.0, abs=0.03)
    # The variance of the energy error of a step is of sixth order in the step.
    small = sampled(samplers.MCLMC(step_size=0.21), model, draws=4000)
    ratio = [float(t["sample_stats"]["energy_error"].var()) for t in (tree, small)]
    assert np.log2(ratio[0] / ratio[1]) == pytest.approx(6.0, abs=0.5)


def test_a_thermostat_takes_away_the_heat_of_a_noisy_gradient():
    """One oscillator, sigma = 3, h = 0.1: <xi> = 1 + h sigma^2 / 2 = 1.45."""

    class Noisy(samplers.SGNHT):
        def evaluate(self, q):
            at = super().evaluate(q)
            noise = 3.0 * self.noise("gradient", like=q)
            return type(at)(at.q, at.potential, at.gradient + noise, at[3])

    q = kg.variable(name="q")
    model = kg.model(q, factors=[-0.5 * q * q])
    sampler = Noisy(step_size=0.1, thermal_mass=10.0)
    tree = kg.mcmc(model, sampler, draws=50_000, warmup=2000, chains=4, seed=1, progress=False)
    thermostat = tree["sample_stats"]["thermostat"].values
    assert float(thermostat.mean()) == pytest.approx(1.45, abs=0.03)
    assert float(thermostat.var()) == pytest.approx(0.1, abs=0.01)  # 1 / thermal_mass
    assert float((tree["posterior"]["q"] ** 2).mean()) == pytest.approx(1.0, abs=0.03)


@pytest.mark.parametrize(
    ("made", "error", "text"),
    [
        (lambda: samplers.Splitting("BAXAB"), ValueError, "'X' at place 3 .*; letters are A"),
        (lambda: samplers.Splitting("BOB"), ValueError, "has no A, so nothing ever moves"),
        (lambda: samplers.Splitting(3), TypeError, "word must be a string"),
        (lambda: samplers.HMC(integrator="euler"), ValueError, "integrator must be 'leapfrog', "),
        (lambda: samplers.Integrator([0.5, 1.0]), ValueError, "a kick at both ends"),
        (lambda: samplers.Integrator([0.4, 1.0, 0.6]), ValueError, "the same backwards"),
        (lambda: samplers.Integrator([0.4, 1.0, 0.4]), ValueError, "kicks add up to 0.8"),
        (lambda: samplers.RandomWalk(proposal="cauchy"), ValueError, "'normal' or 'uniform'"),
    ],
)
def test_what_makes_no_sense_is_refused(made, error, text):
    with pytest.raises(error, match=text):
        made()


def test_microcanonical_samplers_need_two_unknowns():
    model = kg.model(kg.normal(0, 1))
    for kind in (samplers.MCLMC, samplers.MAMS):
        with pytest.raises(ValueError, match="two or more free numbers"):
            kg.mcmc(model, kind(), progress=False)


@pytest.mark.parametrize("name", [n for n in kg.samplers.__all__ if n not in ("Integrator", "EQN")])
def test_a_signature_has_the_settings_and_their_defaults(name):
    cls = getattr(kg.samplers, name)
    given = inspect.signature(cls).parameters
    made = cls() if name != "Splitting" else cls("BAOAB")
    settings = {k: v for k, v in made.settings().items() if k in given and k != "word"}
    assert settings
    assert {k: given[k].default for k in settings} == settings
    assert {"scale", "tune"} <= {*given}


def test_a_class_with_an_init_of_its_own_has_that_signature():
    class Own(kg.samplers.HMC):
        def __init__(self, step):
            super().__init__(step_size=step)

    assert [*inspect.signature(Own).parameters] == ["step"]
    assert [*inspect.signature(kg.samplers.EQN).parameters] == ["sampler", "values", "settings"]
