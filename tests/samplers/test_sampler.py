"""Samplers of a user's own: init, step and hyper-parameters are all one writes."""

import random
import warnings
from functools import partial

import jax
import numpy as np
import pytest
from scipy import stats
from tests.laws.helpers import assert_moments
from tests.runs.models import run, same_draws, schools

import kinetograph as kg
from kinetograph.programs.memory_cache import PROGRAMS

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")


class Walk(kg.Sampler):
    """Metropolis: q + h R is accepted with probability min(1, pi(q') / pi(q))."""

    step_size = kg.hyper(1.0, positive=True)
    target_acceptance = kg.hyper(0.3, above=0, below=1)
    tunes = ("step_size", "scale")

    def step(self, at):
        new = self.evaluate(at.q + self.step_size * self.noise("walk", like=at.q))
        gain = at.potential - new.potential
        self.record("acceptance_rate", kg.minimum(1.0, kg.exp(gain)))
        accepted = kg.log(self.noise.uniform(name="accept")) < gain
        if accepted:
            at = new
        self.record("accepted", accepted)
        return at


class GLA2(kg.Sampler):
    """Half kick, drift, half kick, friction and noise."""

    step_size = kg.hyper(0.1, positive=True)
    friction = kg.hyper(1.0, lower=0)
    inverse_temperature = kg.hyper(1.0, positive=True)

    def init(self, at):
        return {"p": self.noise("momentum", like=at.q) / kg.sqrt(self.inverse_temperature)}

    def step(self, at, p):
        h, a = self.step_size, kg.exp(-self.friction * self.step_size)
        p = p - 0.5 * h * at.gradient
        at = self.evaluate(at.q + h * p)
        p = p - 0.5 * h * at.gradient
        p = a * p + kg.sqrt((1 - a * a) / self.inverse_temperature) * self.noise("O", like=p)
        self.record("kinetic_energy", 0.5 * kg.sum(p * p))
        return at, {"p": p}


def correlated() -> kg.Model:
    x = kg.multivariate_normal([1.0, -2.0], [[1.0, 0.6], [0.6, 4.0]])
    return kg.model(x)


def oscillator(size=2) -> kg.Model:
    x = kg.normal(0.0, 1.0, shape=size, name="x")
    return kg.model(x)


# What it samples.


def test_a_gaussian_is_sampled_right():
    tree = run(correlated(), sampler=Walk(), draws=20_000, warmup=1000, chains=4)
    assert_moments(tree["posterior"]["x"].values, [1.0, -2.0], [1.0, 2.0])
    assert tree["sample_stats"]["accepted"].dtype == bool
    share = float(tree["sample_stats"]["accepted"].mean())
    assert share == pytest.approx(0.3, abs=0.1)  # the step size was tuned to it


@pytest.mark.slow
def test_a_fault_is_found():
    """The control: proposals are always taken."""

    class Always(Walk):
        def step(self, at):
            super().step(at)
            return self.evaluate(at.q + self.step_size * self.noise("walk", like=at.q))

    sampler = Always(step_size=0.5, tune=())
    tree = run(correlated(), sampler=sampler, draws=5000, chains=4)
    with pytest.raises(AssertionError):
        assert_moments(tree["posterior"]["x"].values, [1.0, -2.0], [1.0, 2.0])


@pytest.mark.slow
def test_a_scheme_has_its_own_moments():
    """GLA2 on the oscillator: <q^2> = 1 / (1 - h^2 / 4), <p^2> = 1 at every h."""
    h = 0.8
    tree = run(oscillator(), sampler=GLA2(h, friction=1.5), draws=20_000, warmup=50, chains=4)
    assert_moments(tree["posterior"]["x"].values, 0.0, np.sqrt(1 / (1 - h * h / 4)))
    assert tree["sample_stats"]["kinetic_energy"].mean() == pytest.approx(1.0, abs=0.03)


@pytest.mark.slow
@pytest.mark.parametrize("beta", [0.25, 4.0])
def test_momenta_begin_at_the_temperature(beta):
    x = kg.normal(0, 1, shape=2000)
    sampler = GLA2(1e-6, 1e-6, inverse_temperature=beta)
    tree = run(kg.model(x), sampler=sampler, draws=1, warmup=0, chains=2)
    # <p^2 / 2> = N / 2 beta, with N = 2000 in each chain: 6 standard errors.
    energies = tree["sample_stats"]["kinetic_energy"].values
    np.testing.assert_allclose(energies * beta / 1000, 1.0, atol=6 * np.sqrt(2 / 2000))


@pytest.mark.slow
def test_a_mass_is_a_change_of_coordinates():
    """With scale s the oscillator of stiffness 1 has the moments of stiffness s^2."""
    h, s = 0.8, 0.5
    tree = run(oscillator(), sampler=GLA2(h, scale=s), draws=20_000, warmup=50, chains=4)
    assert_moments(tree["posterior"]["x"].values, 0.0, np.sqrt(1 / (1 - h * h * s * s / 4)))


# Promises of runs.


def test_draws_obey_the_promises_of_runs():
    sampler = GLA2(0.05)
    one = run(schools(), sampler=sampler, chains=4, threads=1)
    assert same_draws(run(schools(), sampler=sampler, chains=4, threads=2), one)
    alone = run(schools(), sampler=sampler, chains=1)
    assert np.array_equal(alone["posterior"]["mu"], one["posterior"]["mu"][:1])
    thin = run(schools(), sampler=sampler, chains=4, draws=20, thin=3)
    assert np.array_equal(thin["posterior"]["mu"], one["posterior"]["mu"][:, 2::3])


def test_settings_slots_and_gradients_are_in_the_results():
    tree = run(correlated(), sampler=GLA2(step_size=0.4), draws=60, warmup=40)
    assert tree.attrs["sampler"] == "GLA2"
    assert '"step_size": 0.4' in tree.attrs["sampler_settings"]
    state = tree["sampler_state"].dataset
    assert state["slots_p"].shape == (tree["posterior"].sizes["chain"], 2)
    np.testing.assert_array_equal(state["hyper_friction"], 1.0)
    # One gradient a step, beside those of the search for a starting point.
    np.testing.assert_array_equal(state["gradients"], 100 + state["start_gradients"])


def test_another_value_compiles_nothing():
    model = correlated()
    run(model, sampler=GLA2(0.1))
    kept = dict(PROGRAMS[model])
    for h in (0.2, 0.3):
        first = run(model, sampler=GLA2(h, friction=h))
        assert first.attrs["compile_time"] == 0
    assert PROGRAMS[model] == kept
    assert not same_draws(run(model, sampler=GLA2(0.1)), first)


FACTOR = 2.0


def test_a_changed_helper_is_seen_by_the_next_run(monkeypatch):
    class Grow(kg.Sampler):
        def step(self, at):
            return self.evaluate(FACTOR * at.q)

    model = oscillator()

    def end():
        return kg.chain(model, Grow(), seed=1, initial={"x": [1.0, 1.0]}).step(1).posterior["x"]

    assert end().tolist() == [[2.0, 2.0]]
    monkeypatch.setitem(globals(), "FACTOR", 3.0)
    assert end().tolist() == [[3.0, 3.0]]
    assert len(PROGRAMS[model]) == 2


@pytest.mark.slow
def test_a_number_and_as_many_of_it_give_the_same_draws():
    one = run(correlated(), sampler=GLA2(0.3))
    several = run(correlated(), sampler=GLA2([0.3, 0.3]))
    np.testing.assert_allclose(
        one["posterior"]["x"].values, several["posterior"]["x"].values, rtol=1e-9
    )


def test_a_schedule_is_a_function_of_the_steps_number():
    """A step size that moves nothing from step 10 on."""
    sampler = Walk(step_size=lambda t: kg.where(t < 10, 0.5, 1e-200), tune=())
    draws = run(oscillator(), sampler=sampler, warmup=0, draws=20, chains=2)["posterior"]["x"]
    moved = np.diff(draws.values, axis=1).any(-1)
    assert moved[:, :9].any(1).all()
    assert not moved[:, 10:].any()


def test_another_noise_or_record_changes_no_draw():
    class More(Walk):
        def step(self, at):
            self.record("extra", kg.sum(self.noise("extra", shape=3)))
            return super().step(at)

    first = run(correlated(), sampler=Walk())
    more = run(correlated(), sampler=More())
    np.testing.assert_array_equal(first["posterior"]["x"], more["posterior"]["x"])
    assert "extra" in more["sample_stats"]


# Branches, loops and noise.


def test_only_the_branch_that_is_taken_has_effects():
    """u below 1/2 is added to one sum, else to another: 1/8 and 3/8 of the number of steps."""

    class Split(kg.Sampler):
        def init(self, at):
            return {"low": 0.0, "high": 0.0, "total": 0.0}

        def step(self, at, low, high, total):
            u = self.noise.uniform(name="u")
            if u < 0.5:
                low = low + u
            else:
                high = high + u
            return at, {"low": low, "high": high, "total": total + u}

    n = 25_000
    state = run(oscillator(1), sampler=Split(), draws=n, warmup=0, chains=4)["sampler_state"]
    low, high = state["slots_low"].values, state["slots_high"].values
    np.testing.assert_allclose(low + high, state["slots_total"], rtol=1e-9)
    np.testing.assert_allclose(low / n, 1 / 8, atol=6 * 0.1614 / np.sqrt(n))
    np.testing.assert_allclose(high / n, 3 / 8, atol=6 * 0.3886 / np.sqrt(n))


def test_loops_of_any_length_and_noise_in_each_trip():
    """The number of trips is drawn; each trip has a number of its own."""

    class Sums(kg.Sampler):
        most = kg.hyper(5)

        def step(self, at):
            count = self.noise.integers(1, self.most + 1, name="count")
            total, squares, n = 0.0, 0.0, 0
            while n < count:
                x = self.noise("x")
                total = total + x
                squares = squares + x * x
                n = n + 1
            self.record("count", count)
            self.record("total", total)
            self.record("squares", squares)
            return at

    tree = run(oscillator(1), sampler=Sums(), draws=20_000, warmup=0, chains=2)
    found = tree["sample_stats"]
    assert set(np.unique(found["count"])) == {1, 2, 3, 4, 5}
    # Var(total) = E(count) = 3 if the numbers of a step are independent (11 / 3 of fourth order).
    assert float((found["total"] ** 2).mean()) == pytest.approx(3.0, abs=0.2)
    assert float(found["squares"].mean()) == pytest.approx(3.0, abs=0.1)


def test_gradients_in_loops_are_counted():
    class Twice(kg.Sampler):
        def step(self, at):
            for _ in kg.range(3):
                move = self.noise("move", like=at.q) - at.gradient
                at = self.evaluate(at.q + 0.1 * move)
            return at

    state = run(oscillator(), sampler=Twice(), draws=50, warmup=0, chains=1)["sampler_state"]
    assert int(state["gradients"][0]) == 150 + int(state["start_gradients"][0])


@pytest.mark.slow
def test_a_density_with_a_loop_whose_room_grows():
    x = kg.variable(name="x")
    n, total = kg.while_loop(
        lambda n, total: n < 100 + abs(x), lambda n, total: (n + 1, total - x**2 / 200), [0.0, 0.0]
    )
    model = kg.model(x, factors=[total * 100 / n])
    tree = run(model, sampler=GLA2(0.3), draws=5000, warmup=50, chains=2)
    assert_moments(tree["posterior"]["x"].values, 0.0, np.sqrt(1 / (1 - 0.09 / 4)))


def test_views_of_the_position_by_name():
    class Scaled(kg.Sampler):
        def step(self, at):
            parts = self.parts(at.q)
            self.record("first", parts["a"])
            self.record("second", parts["b"])
            return self.evaluate(at.q + self.noise("move", like=at.q))

    a = kg.normal(0, 1, name="a")
    b = kg.normal(0, 1, shape=(2, 3), name="b")
    tree = run(kg.model(a, b), sampler=Scaled(), draws=5, warmup=0, chains=1)
    found = tree["sample_stats"]
    # Recorded before the move: the row before's draws.
    np.testing.assert_array_equal(found["first"][0, 1:], tree["posterior"]["a"][0, :-1])
    np.testing.assert_array_equal(found["second"][0, 1:], tree["posterior"]["b"][0, :-1])


class Gibbs(kg.Sampler):
    """m given x, x given m, of m ~ N(0, 1) and x ~ N(m, 1)."""

    def step(self, at):
        parts = self.parts(at.q)
        parts["m"] = 0.5 * parts["x"][0] + kg.sqrt(0.5) * self.noise("m")
        parts["x"][0] = parts["m"] + self.noise("x")
        self.record("join", kg.max(abs(self.join(parts) - self.evaluate(parts).q)))
        return self.evaluate(parts)


def test_a_block_at_a_time():
    m = kg.normal(0, 1, name="m")
    x = kg.normal(m, 1, shape=1, name="x")
    tree = run(kg.model(m, x), sampler=Gibbs(), draws=5000, warmup=10, chains=2)
    assert_moments(tree["posterior"]["m"].values, 0.0, 1.0)
    assert_moments(tree["posterior"]["x"].values, 0.0, np.sqrt(2.0))
    assert not tree["sample_stats"]["join"].any()


def test_parts_of_a_position_are_all_of_it():
    def partly(self, at):
        return self.evaluate({"y": at.q})

    def wide(self, at):
        return self.evaluate({"x": 1.0})

    failing(partly, kg.ModelError, r"dictionary of x, got y at test_sampler.*self\.parts\(at\.q\)")
    failing(wide, kg.ShapeError, r"x has shape \(2,\) on its free scale, 1 has shape \(\)")


def test_whole_numbers_and_truth_values_are_kept_as_slots():
    class Counting(kg.Sampler):
        def init(self, at):
            return {"steps": 0, "odd": False, "matrix": np.eye(2)}

        def step(self, at, steps, odd, matrix):
            return at, {"steps": steps + 1, "odd": ~odd, "matrix": matrix @ matrix * 1.0}

    state = run(oscillator(), sampler=Counting(), draws=11, warmup=0, chains=2)["sampler_state"]
    assert state["slots_steps"].values.tolist() == [11, 11]
    assert state["slots_odd"].values.tolist() == [True, True]
    np.testing.assert_array_equal(state["slots_matrix"][0], np.eye(2))


# Errors.


def failing(body, error, text, init=None, sampler=None):
    class Bad(kg.Sampler):
        step = body

    if init is not None:
        Bad.init = init
    with pytest.raises(error, match=text):
        run(oscillator(), sampler=sampler or Bad())


def test_what_a_step_gives_is_looked_at():
    failing(
        lambda self, at: at.q, TypeError, r"Bad\.step must return the new point, .*got an array"
    )
    failing(
        lambda self, at, p: at,
        kg.ModelError,
        "does not return the slot 'p'",
        lambda self, at: {"p": at.q},
    )
    failing(lambda self, at: (at, {"r": at.q}), kg.ModelError, "returns 'r', which is not a slot")
    failing(
        lambda self, at, p: (at, {"p": kg.sum(p)}),
        kg.ShapeError,
        r"slot 'p' has shape \(2,\) from init",
        lambda self, at: {"p": at.q},
    )
    failing(
        lambda self, at, n: (at, {"n": n + 0.5}),
        TypeError,
        "slot 'n' is int64 from init",
        lambda self, at: {"n": 1},
    )
    old = lambda self, at: {"old": at}
    failing(lambda self, at, old: at, TypeError, "slot 'old' is a Point, but a slot must be", old)
    failing(lambda self, at: self.evaluate(at.q[0]), kg.ShapeError, r"shape \(2,\).*test_sampler")


def written_into(self, at):
    q = at.q
    q += 1.0
    return at


def written_into_an_item(self, at):
    at.q[0] = 1.0
    return at


def written_into_in_a_loop(self, at):
    q = at.q
    for i in kg.range(2):
        q[i] = 0.0
    return at


def replaced(self, at):
    return at._replace(q=at.q + 1.0)


def assigned(self, at):
    at.q = at.q + 1.0
    return at


@pytest.mark.parametrize(
    "step", [written_into, written_into_an_item, written_into_in_a_loop, replaced, assigned]
)
def test_a_point_stays_as_it_was_evaluated(step):
    error = AttributeError if step in (replaced, assigned) else kg.StagingError
    failing(step, error, rf"(?s)test_sampler\.py:\d+ {step.__name__}.*self\.evaluate\(q\)")


@pytest.mark.parametrize(
    "step",
    [
        lambda self, at: self.evaluate(at),
        lambda self, at: self.evaluate(at + 1.0),
        lambda self, at: 2.0 * at,
        lambda self, at: at * 0.5,
        lambda self, at: kg.where(at.potential > 0, at, self.evaluate(2 * at.q)),
    ],
)
def test_a_point_is_no_array(step):
    failing(step, TypeError, r"a point is not an array \(test_sampler\.py:\d+\): .* at\.q")


def test_a_copy_of_a_position_may_be_changed():
    class Shift(kg.Sampler):
        def step(self, at):
            q = at.q.copy()
            q += 1.0
            q[0] = 5.0
            return self.evaluate(q)

    rows = kg.chain(oscillator(), Shift(), seed=1, initial={"x": [0.0, 1.0]}).step(2)
    assert rows.posterior["x"].tolist() == [[5.0, 2.0], [5.0, 3.0]]
    assert rows.sample_stats["lp"] == pytest.approx(-np.log(2 * np.pi) - np.array([14.5, 17.0]))


def slot(self, at):
    return {"p": at.q}


def test_the_arguments_of_a_step_are_the_slots():
    where = r"Bad\.step \(test_sampler\.py:\d+\) "
    failing(
        lambda self, at, r: at,
        kg.ModelError,
        where + "takes r, which is not a slot: init returns p",
        slot,
    )
    failing(
        lambda self, at: at,
        kg.ModelError,
        where + r"does not take the slot p.*\(self, at, p\)",
        slot,
    )
    failing(lambda self: 1, kg.ModelError, where + "must take the point")
    failing(
        lambda self, at: at,
        kg.ModelError,
        "Bad.init .*the point alone, but also takes q",
        lambda self, at, q: {},
    )


def kept_in_init(self, at):
    self.p = self.noise("momentum", like=at.q)
    return {}


def test_a_step_uses_what_has_a_value_there():
    refused = partial(failing, error=kg.ModelError)
    unknown, given = kg.normal(0, 1, name="mu"), kg.placeholder(name="given")
    uses = r"Bad\.step \(test_sampler\.py:\d+\) uses "
    for array, text in (
        (lambda self: unknown, r"mu \(written at test_sampler\.py:\d+\).*self\.noise.*self\.parts"),
        (lambda self: kg.normal(0, 1), "normal .*, an unknown of a model"),
        (lambda self: given, "given .*, a placeholder.*kg.hyper"),
    ):
        refused(lambda self, at, a=array: self.evaluate(at.q + a(self)), text=uses + text)
    slot = r"noise.*test_sampler.*an array of another method.* make it a slot"
    refused(lambda self, at: self.evaluate(at.q + self.p), text=uses + slot, init=kept_in_init)


def test_a_step_neither_prints_nor_stops():
    def prints(self, at):
        for _ in kg.range(3):
            kg.print(at.q)
        return at

    def demands(self, at):
        assert at.potential > 0, "too low"
        return at

    failing(prints, kg.ModelError, r"prints \(written at test_sampler.*self\.record")
    failing(
        demands,
        kg.ModelError,
        r"calls kg.check \(written at test_sampler.*\(too low: at.potential > 0 is false",
    )


GENERATOR = np.random.default_rng(1)


@pytest.mark.parametrize(
    "step",
    [
        lambda self, at: self.evaluate(at.q + np.random.normal()),
        lambda self, at: self.evaluate(at.q + random.gauss(0.0, 1.0)),
        lambda self, at: self.evaluate(at.q + random.random()),
        lambda self, at: self.evaluate(at.q + GENERATOR.normal()),
        lambda self, at: self.evaluate(at.q + stats.norm.rvs()),
    ],
)
def test_random_numbers_of_python_are_refused(step):
    failing(step, kg.ModelError, r"of Python \(test_sampler\.py:\d+\): .*use self\.noise")


def test_random_numbers_of_python_in_init_are_refused():
    def init(self, at):
        return {"p": at.q * np.random.normal()}

    failing(lambda self, at, p: (at, {"p": p}), kg.ModelError, r"Bad\.init .*use self.noise", init)


class Counting(kg.Sampler):
    def __init__(self):
        self.count = 0

    def step(self, at):
        self.count += 1
        return self.evaluate(at.q / self.count)


class CountingByClass(Counting):
    count = 0
    __init__ = kg.Sampler.__init__


class CountingForAll(CountingByClass):
    def step(self, at):
        CountingForAll.count += 1
        return self.evaluate(0.5 * at.q)


@pytest.mark.parametrize("sampler", [Counting, CountingByClass, CountingForAll])
def test_state_of_python_in_a_step_is_told(sampler):
    with pytest.warns(kg.AutographWarning, match=r"changes self\.count: .* a slot"):
        kg.chain(oscillator(), sampler(), seed=1)


def test_other_attributes_of_the_class_are_no_state():
    class Scaled(kg.Sampler):
        factor, shifts, names = 0.5, np.zeros(2), ["a"]

        @property
        def twice(self):
            return 2 * self.factor

        def step(self, at):
            self.first = self.names[0]
            return self.evaluate(self.twice * at.q)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kg.chain(oscillator(), Scaled(), seed=1)


@pytest.mark.parametrize(
    ("schedule", "error", "text"),
    [
        (lambda i: [0.1, 0.2], TypeError, "must give a number or an array, got list"),
        (lambda i: None, TypeError, "got NoneType"),
        (lambda i, j: i, TypeError, "must take that number and nothing else"),
        (lambda i: np.ones(3), kg.ShapeError, r"has shape \(3,\); one number, or one for each"),
        (lambda i: i < 3, TypeError, r"must give numbers, got .* of bool"),
        (lambda i: 7.0 - i, ValueError, "must be positive, got 0.0 in step 7 of its schedule"),
        (lambda i: 1 / i, ValueError, "must be finite, got inf in step 0 of its schedule"),
    ],
)
def test_schedules_are_checked(schedule, error, text):
    with pytest.raises(error, match=rf"GLA2: step_size.*{text}"):
        run(oscillator(), sampler=GLA2(schedule), draws=4, warmup=4)


def test_a_schedule_need_only_fit_the_run():
    chain = kg.chain(oscillator(), GLA2(lambda i: 2.5 - i), seed=1)  # init has that of step 0
    chain.step(3)
    with pytest.raises(ValueError, match="in step 3 of its schedule"):
        chain.step()


def test_records_of_several_kinds():
    def mixed(self, at, first=1.0, second=1):
        if at.potential > 0:
            self.record("a", first)
        else:
            self.record("a", second)
        return at

    class Mixed(kg.Sampler):
        step = mixed

    recorded = kg.chain(oscillator(), Mixed(), seed=1).step(1).sample_stats["a"]
    assert recorded.dtype == float
    truth = lambda self, at: mixed(self, at, first=True)
    failing(truth, TypeError, r"was bool before, and is int64 at test_sampler")


def test_what_belongs_elsewhere_is_refused():
    stream = kg.RandomStreams(1)
    failing(lambda self, at: self.evaluate(at.q + stream.normal()), kg.ModelError, "use self.noise")
    count = kg.state(0.0, name="count")
    failing(
        lambda self, at: self.evaluate(at.q + count.assign_add(1.0)), kg.ModelError, "as a slot"
    )
    failing(lambda self, at: self.record("a b", 1.0) or at, ValueError, "must be a word")
    failing(lambda self, at: self.record("lp", 1.0) or at, ValueError, "choose another name")
    with pytest.raises(kg.ModelError, match=r"inside of `init` and `step`"):
        GLA2().noise("O")
    with pytest.raises(NotImplementedError, match="write `def step"):
        run(oscillator(), sampler=kg.Sampler())


def test_tuning_asks_for_an_acceptance_rate():
    class Silent(Walk):
        def record(self, name, value):
            pass

    with pytest.raises(kg.ModelError, match="must record 'acceptance_rate'"):
        run(oscillator(), sampler=Silent())

    class Twice(Walk):
        def step(self, at):
            self.record("acceptance_rate", 2.0)
            return at

    with pytest.raises(ValueError, match=r"from 0 to 1, got 2\.0 at test_sampler\.py"):
        run(oscillator(), sampler=Twice())
    failing(
        lambda self, at: self.record("acceptance_rate", at.q) or at,
        kg.ShapeError,
        r"one number for a step, got q of shape \(2,\) at test_sampler",
    )


@pytest.mark.parametrize(
    ("names", "error", "text"),
    [
        (dict(tunes="step_size"), TypeError, r"tuple of names, as in \('step_size',\)"),
        (dict(tunes=["step"]), ValueError, "may name step_size, scale, got 'step'"),
        (dict(tunes=["step_size"]), TypeError, "no step_size; write, for example, step_size ="),
        (
            dict(tunes=["step_size"], step_size=kg.hyper(0.1)),
            TypeError,
            "no target_acceptance; write, for example, target_acceptance =",
        ),
        (dict(noise=kg.hyper(1.0)), TypeError, "'noise' cannot be a hyper-parameter"),
        (dict(scale=2.0), TypeError, "scale of the coordinates of every sampler.* another name"),
        (dict(scale=kg.hyper(0.3)), TypeError, "scale of the coordinates .*step_size = kg.hyper"),
    ],
)
def test_a_class_is_looked_at_when_it_is_made(names, error, text):
    with pytest.raises(error, match=f"Mine: .*{text}"):
        type("Mine", (kg.Sampler,), {"step": lambda self, at: at, **names})


def test_a_schedule_is_not_tuned():
    with pytest.raises(kg.ModelError, match=r"step_size is a function.*as a number"):
        run(oscillator(), sampler=Walk(step_size=lambda i: 1 / (1 + i)))
    with pytest.raises(TypeError, match="NUTS: step_size must be a number, got a function"):
        run(oscillator(), sampler=kg.samplers.NUTS(step_size=lambda i: 0.1, tune=()))


def test_an_init_of_ones_own():
    class Own(kg.Sampler):
        step_size = kg.hyper(0.5)

        def __init__(self, times):
            self.times = times

        def step(self, at):
            return self.evaluate(self.times * self.step_size * at.q)

    chain = kg.chain(oscillator(), Own(4.0), seed=1, initial={"x": [1.0, 3.0]})
    assert chain.step(1).posterior["x"].tolist() == [[2.0, 6.0]]
    assert Own(1.0) == Own(1.0) != Own(2.0)


@pytest.mark.parametrize(
    ("settings", "error", "text"),
    [
        (dict(step_size=0.0), ValueError, "GLA2: step_size must be positive, got 0.0"),
        (dict(friction=-1), ValueError, "friction must be at least 0, got -1"),
        (dict(step_size=np.nan), ValueError, "must be finite"),
        (dict(step_size="a"), TypeError, "must be a number, got 'a'"),
        (
            dict(stepsize=1.0),
            TypeError,
            "parameter stepsize .*; here it is called step_size",
        ),
        (dict(tune="step_size"), ValueError, "tune may name nothing, got 'step_size'"),
    ],
)
def test_settings_are_checked(settings, error, text):
    with pytest.raises(error, match=text):
        GLA2(**settings)


PER_COORDINATE = {"step_size", "friction", "width", "epsilon", "scale"}


@pytest.mark.parametrize("name", sorted(set(kg.samplers.__all__) - {"Integrator"}))
def test_where_one_number_is_meant_an_array_is_refused(name):
    kind = getattr(kg.samplers, name)
    declared = kind().declared()
    numbers = [n for n, h in declared.items() if not h.static and not h.choices]
    for setting in numbers:
        if setting not in declared or not declared[setting].scalar:
            assert setting in PER_COORDINATE
            continue
        if name == "EQN" and setting not in ("eta", "steps"):
            continue  # of the scheme
        text = rf"{name}: {setting} must be one number, got shape \(4,\).*scale="
        default = declared[setting].default
        with pytest.raises(kg.ShapeError, match=text):
            kind(**{setting: [default or 1] * 4})
    assert declared["inverse_temperature"].scalar


def test_where_one_number_is_meant_schedules_and_chains_give_one():
    model = oscillator()
    late = kg.samplers.BAOAB(inverse_temperature=lambda i: kg.stack([1.0, 1.0 + 0 * i]))
    with pytest.raises(kg.ShapeError, match=r"inverse_temperature, .* must be one number.*\(2,\)"):
        kg.chain(model, late, seed=1)
    chain = kg.chain(model, kg.samplers.BAOAB(), seed=1)
    with pytest.raises((kg.ShapeError, ValueError), match="inverse_temperature"):
        chain.hyper["inverse_temperature"] = [1.0, 2.0]


def test_a_slot_of_single_precision_stays_so():
    class Small(kg.Sampler):
        def init(self, at):
            return {"p": (0.0 * at.q).astype("float32"), "n": np.zeros(2, np.float32)}

        def step(self, at, p, n):
            return at, {"p": p + 1e-9 + 1.0, "n": n + at.q}

    chain = kg.chain(oscillator(), Small(), seed=1)
    chain.step(3)
    assert chain.slots["p"].dtype == chain.slots["n"].dtype == np.float32
    np.testing.assert_array_equal(chain.slots["p"], [3.0, 3.0])


def test_shapes_of_settings_are_checked_with_the_model():
    with pytest.raises(kg.ShapeError, match=r"GLA2: step_size has shape \(3,\)"):
        run(oscillator(), sampler=GLA2([0.1, 0.1, 0.1]))


def test_samplers_are_values():
    assert GLA2() == GLA2()
    assert hash(GLA2()) == hash(GLA2())
    assert GLA2(0.2) != GLA2() != Walk()
    assert GLA2([0.1, 0.2]) == GLA2([0.1, 0.2])
    assert repr(Walk(tune=("scale",))) == "Walk(tune=('scale',))"
    assert repr(GLA2(0.2, inverse_temperature=2.0)) == (
        "GLA2(step_size=0.2, inverse_temperature=2.0)"
    )
    sampler = GLA2()
    sampler.step_size = 0.7
    assert sampler == GLA2(0.7)
    with pytest.raises(ValueError, match="step_size must be positive"):
        sampler.step_size = -1


# The program.


def test_a_step_holds_one_copy_of_the_model():
    """The lowered program takes an arctangent as often as the density does."""
    from kinetograph.graph.precision import x64
    from kinetograph.programs.program import Program
    from kinetograph.programs.state import Plan

    x = kg.variable(name="x", shape=2)
    model = kg.model(x, factors=[-kg.sum(kg.arctan(x) * x)])
    program = Program(model, GLA2(0.1), model.targets)
    with x64():
        chain = program.shapes()
        plan = Plan(np.int32(1), np.int64(0))
        text = jax.jit(program.block).lower(chain, model.argument_values, plan).as_text()
    assert text.count("chlo.atan") == 1


class Beats(kg.Sampler):
    """Moves at every n-th step, by n."""

    every = kg.hyper(3, lower=1)

    def step(self, at):
        q = at.q
        if self.iteration % self.every == 0:
            q = q + 10 // self.every
        return self.evaluate(q)


class Unbounded(Beats):
    every = kg.hyper(3)


class Positive(Beats):
    every = kg.hyper(3, positive=True)


def test_bounds_of_settings_are_known_where_they_divide():
    start = {"x": [0.0, 0.0]}
    for kind in (Beats, Positive):
        chain = kg.chain(oscillator(), kind(), seed=1, initial=start)
        assert chain.step(7).posterior["x"][:, 0].tolist() == [3, 3, 3, 6, 6, 6, 9]
        chain.hyper["every"] = 2
        assert chain.step(3).posterior["x"][:, 0].tolist() == [9, 14, 14]
    with pytest.raises(ValueError, match="every must be positive, got"):
        chain.hyper["every"] = 0
    with pytest.raises(kg.ModelError, match="integer division by zero"):
        kg.chain(oscillator(), Unbounded(), seed=1)
