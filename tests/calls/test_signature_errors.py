"""A call that does not fit is answered by what to write: others' words by ours, above all."""

import inspect
import pickle

import pytest

import kinetograph as kg
from kinetograph import distributions
from kinetograph.calls.argument_advice import COMPUTED, SETTINGS
from kinetograph.calls.argument_names import WORDS_BY_PARAMETER
from kinetograph.neural.options import OPTIONS
from kinetograph.samplers.hyper import declared

MODULES = (
    *(kg, kg.samplers, kg.observables, kg.optimizers, kg.gp, kg.ode, kg.laws, kg.streams),
    kg.autograph,
)
FUNCTIONS = {n: getattr(kg, n) for n in distributions.__all__ if n != "distribution"}


def public():
    """All functions, classes and methods that are public, by name."""
    for module in MODULES:
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isclass(value) and issubclass(value, (BaseException, tuple)):
                continue
            if inspect.isclass(value) or inspect.isfunction(value):
                yield name, value
            if inspect.isclass(value):
                methods = inspect.getmembers(value, inspect.isfunction)
                yield from ((n, m) for n, m in methods if not n.startswith("_"))


@pytest.mark.parametrize(
    ("write", "text"),
    [
        (
            lambda: kg.normal(location=0),
            "unknown parameter location .*; here it is called mean",
        ),
        (lambda: kg.normal(0, std=1), "std .*; here it is called sd. It takes mean, sd, shape"),
        (lambda: kg.normal(0, tau=4), r"tau .*; give sd=1 / sqrt\(tau\)"),
        (lambda: kg.gamma(2, scale=3), "scale .*; give rate=1 / scale"),
        (lambda: kg.wald(mean=3), "mean .*; here it is called mu"),
        # The same word, with another meaning.
        (lambda: kg.asymmetric_laplace(b=3), "b .*; give sigma=1 / b"),
        (lambda: kg.exponentially_modified_normal(nu=3), "nu .*; give rate=1 / nu"),
        (lambda: kg.zero_inflated_poisson(psi=0.3, mu=2), "psi .*; give zero=1 - psi, where"),
        (lambda: kg.hurdle_negative_binomial(psi=0.3), "psi .*; give zero=1 - psi, where"),
        (lambda: kg.negative_binomial(total_count=3, probs=0.1), "probs .*; give prob=1 - probs"),
        (lambda: kg.negative_binomial(alpha=3, beta=2), r"beta .*; give prob=beta / \(beta \+ 1\)"),
        (lambda: kg.geometric(p=0.5), "p .*; give prob=p; counts begin at 0 here"),
        (lambda: kg.categorical(theta=[0.5, 0.5]), "theta .*; give prob=theta; labels begin at 0"),
        (lambda: kg.discrete_uniform(low=0, high=9), "high .*; max= is possible itself: give max"),
        (lambda: kg.lognormal(loc=0, scale=1), "loc .*; give meanlog=, the mean of the logarithm"),
        (lambda: kg.lognormal(mean=3), r"mean .*; give meanlog=kg.log\(mean\) - sdlog"),
        (lambda: kg.uniform(loc=0, scale=1), r"loc .*; give min=loc, max=loc \+ scale"),
        (lambda: kg.wald(3, scale=1), r"scale .*; give lam=scale, and mu=mu \* scale"),
        (lambda: kg.hypergeometric(M=20, n=7, N=5), "M .*; give m=n, n=M - n, k=N"),
        (lambda: kg.beta_binomial(9, mu=0.5, phi=2), r"mu .*; give alpha=mu \* phi, beta="),
        (lambda: kg.ar([0.5], steps=3), "steps .*; give dim=, the number of values: steps plus"),
        (lambda: kg.negative_binomial(3, probs=0.1), "probs .*; give prob=1 - probs"),
        (lambda: kg.hypergeometric(N=20, k=7, n=5), "N .*; give m=k, n=N - k, k=n"),
        (lambda: kg.ar([0.5], constant=True, shape=9), "ar: constant is a number, got True"),
        (lambda: kg.gamma(mu=2, sigma=1), r"mu .*; give alpha=\(mu / sigma\)\*\*2, rate="),
        (lambda: kg.student(3, lam=2), r"lam .*; give sigma=1 / sqrt\(lam\)"),
        (lambda: kg.lkj_cholesky(2, 3, sd_dist=1), r"sd_dist .* sd\[:, None\] \* kg.lkj_cholesky"),
        (lambda: kg.normal(0, 1, transform="ordered"), r"kg.ordered_variable.*kg.normal\(...\)"),
        (lambda: kg.observe([1.0], kg.normal(0, 1), mask=[1]), r"kg.observe\(y\[rows\], kg.normal"),
        (lambda: kg.ode.solve(args=1), "args .*; f reads arrays from its enclosing scope"),
        (lambda: kg.compile([], [], updates=[]), r"updates .*; an update is .* state.assign"),
        (lambda: kg.scan(sequences=1), "sequences .*; here it is called xs"),
        (lambda: kg.distribution(logp=abs), "logp .*; here it is called log_density"),
        (lambda: kg.random_walk(1, steps=3), r"steps .*; give dim=steps \+ 1, the number"),
        (lambda: kg.normal(0, 1, observed=[1.0]), r"given by kg.observe\(data, kg.normal\(...\)\)"),
        (
            lambda: kg.normal(0, 1, sdd=1),
            r"unknown parameter sdd \(.*test_signature_errors.py:\d+\); did you mean sd\? It takes",
        ),
        (lambda: kg.normal(0, scal=1), r"unknown parameter scal \(.*\); did you mean scale\? It "),
        (lambda: kg.RandomStreams(1).choice(3, size=4), "unknown parameter size"),
    ],
)
def test_answers(write, text):
    with pytest.raises(TypeError, match=text):
        write()


def test_every_word_is_one_for_some_parameter():
    ours = {name for _, function in public() for name in inspect.signature(function).parameters}
    ours |= {
        name for sampler in kg.samplers.__all__ for name in declared(getattr(kg.samplers, sampler))
    }
    ours |= {*OPTIONS, *kg.neural.EnsembleRegressor().get_params()}
    assert set(WORDS_BY_PARAMETER) <= ours, set(WORDS_BY_PARAMETER) - ours
    assert {own for several in COMPUTED.values() for own, _ in several} <= ours
    assert {own for settings in SETTINGS.values() for own in settings} <= ours


def test_no_word_is_for_the_parameter_itself():
    for own, words in WORDS_BY_PARAMETER.items():
        assert own not in words
        assert len(set(words)) == len(words), own


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_distribution_answers(name):
    with pytest.raises(TypeError, match=f"{name}: unknown parameter no_such_word .*It takes"):
        FUNCTIONS[name](no_such_word=1)


def test_every_public_call_answers_a_word_that_there_is_not():
    """None of them is told in Python's words alone; those that take any keyword have no say."""
    seen = 0
    for name, function in public():
        try:
            signature = inspect.signature(function)
        except ValueError:
            continue
        kinds = {p.kind for p in signature.parameters.values()}
        if inspect.Parameter.VAR_KEYWORD in kinds or name in ("Array", "Model", "init", "step"):
            continue
        first = () if inspect.isclass(function) or "self" not in signature.parameters else (None,)
        if inspect.isclass(function) and function.__init__ is object.__init__:
            continue
        with pytest.raises(TypeError, match=f"{name}: unknown parameter no_such_word .* takes"):
            function(*first, no_such_word=1)
        seen += 1
    assert seen > 500


def test_a_good_call_is_what_it_was():
    assert kg.exp.__wrapped__ is inspect.unwrap(kg.exp)
    assert list(inspect.signature(kg.mcmc).parameters)[:3] == ["model", "sampler", "draws"]
    assert inspect.signature(kg.Dataset.batch).parameters["size"]
    assert pickle.loads(pickle.dumps(kg.exp)) is kg.exp
    assert pickle.loads(pickle.dumps(kg.observables.covariance)) is kg.observables.covariance
    assert isinstance(kg.Dataset([1.0]), kg.Dataset)


def test_words_of_settings_are_answered_by_what_takes_them():
    """Not by a parameter of a similar name, as words beside arrays are."""
    with pytest.raises(TypeError, match=r"EQN: give scale to the sampler, BAOAB\(scale=") as told:
        kg.samplers.EQN(scale=2.0)
    assert "did you mean" not in str(told.value)


def test_errors_from_within_are_as_they_are():
    def wrong(x):
        return x.nonsense(1)

    with pytest.raises(AttributeError, match="nonsense"):
        kg.vmap(wrong)(kg.data([1.0, 2.0]))
    with pytest.raises(TypeError, match="takes 1 positional argument but 2") as caught:
        kg.while_loop(lambda v: v < 3, lambda v: (lambda w: w)(v, 1), [0.0])
    assert "while_loop: there is no" not in str(caught.value)


def test_a_name_for_a_function_without_names():
    with pytest.raises(TypeError, match=r"factor takes no name: leave out 'weights'"):
        kg.factor(kg.normal(0, 1), "weights")


@pytest.mark.parametrize("name", sorted(FUNCTIONS.keys() - {"joint", "mixture"}))
def test_a_name_by_position_beside_all_parameters(name):
    """As `pm.Normal("x", mu=0, sigma=1)`."""
    parameters = inspect.signature(FUNCTIONS[name]).parameters.values()
    if "name" not in [p.name for p in parameters]:
        return
    by_position = {p.name: 1.0 for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD}
    with pytest.raises(TypeError, match="a name is given by name='x'"):
        FUNCTIONS[name]("x", **by_position)
