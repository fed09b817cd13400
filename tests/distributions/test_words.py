"""A keyword of another library is answered by what it is called here."""

import inspect

import pytest

import kinetograph as kg
from kinetograph import distributions
from kinetograph.distributions.family import FAMILIES
from kinetograph.distributions.words import WORDS

FUNCTIONS = {n: getattr(distributions, n) for n in distributions.__all__ if n != "distribution"}


@pytest.mark.parametrize(
    ("write", "text"),
    [
        (lambda: kg.normal(loc=0), "normal: there is no parameter loc .*; here it is called mean"),
        (lambda: kg.normal(0, scale=1), "scale .*; here it is called sd. It takes mean, sd, shape"),
        (lambda: kg.normal(0, tau=4), r"tau .*; give sd=1 / sqrt\(tau\)"),
        (lambda: kg.gamma(2, scale=3), "scale .*; give rate=1 / scale"),
        (lambda: kg.gamma(alpha=2, beta=3), "beta .*; here it is called rate"),
        (lambda: kg.beta(alpha=2, beta=3), "alpha .*; here it is called shape1"),
        (lambda: kg.weibull(concentration=2), "concentration .*; here it is called alpha"),
        (lambda: kg.weibull(2, beta=3), "beta .*; here it is called scale"),
        (lambda: kg.pareto(alpha=2, m=3), "alpha .*; here it is called a"),
        (lambda: kg.pareto(2, m=3), "m .*; here it is called b"),
        (lambda: kg.gumbel(mu=2), "mu .*; here it is called location"),
        (lambda: kg.zero_inflated_poisson(gate=0.3, rate=2), "gate .*; here it is called zero"),
        (lambda: kg.negative_binomial(mu=3, dispersion=2), "mu .*; here it is called mean"),
        (lambda: kg.beta_binomial(n=3, alpha=2, beta=1), "n .*; here it is called size"),
        (lambda: kg.discrete_uniform(lower=3, max=9), "lower .*; here it is called min"),
        (lambda: kg.multinomial(n=3, prob=[0.5, 0.5]), "n .*; here it is called size"),
        (lambda: kg.ordered_logistic(predictor=3, cutpoints=[0.5]), "predictor .* called eta"),
        (lambda: kg.wald(mean=3), "mean .*; here it is called mu"),
        (lambda: kg.wald(3, concentration=3), "concentration .*; here it is called lam"),
        (lambda: kg.skew_normal(mu=3), "mu .*; here it is called location"),
        (lambda: kg.asymmetric_laplace(b=3), "b .*; here it is called sigma"),
        (lambda: kg.f(dfn=3, df2=1), "dfn .*; here it is called df1"),
        (lambda: kg.multivariate_normal(0, precision_matrix=1), "it is called precision"),
        (lambda: kg.wishart(nu=3, scale=1), "nu .*; here it is called df"),
        (lambda: kg.wishart(3, V=1), "V .*; here it is called scale"),
        (lambda: kg.lkj_cholesky(concentration=3), "concentration .*; here it is called eta"),
        (lambda: kg.von_mises(0, concentration=3), "concentration .*; here it is called kappa"),
        (lambda: kg.random_walk(1, steps=3), "steps .*; here it is called dim"),
        (lambda: kg.ar([0.5], sigma=3), "sigma .*; here it is called sd"),
        (lambda: kg.student(nu=3), "nu .*; here it is called df"),
        (lambda: kg.bernoulli(probs=0.5), "probs .*; here it is called prob"),
        (lambda: kg.binomial(n=3, prob=0.5), "n .*; here it is called size"),
        (lambda: kg.uniform(lower=0), "lower .*; here it is called min"),
        (lambda: kg.poisson(lam=3), "lam .*; here it is called rate"),
        (lambda: kg.multivariate_normal([0.0], scale_tril=[[1.0]]), "here it is called chol"),
        (lambda: kg.normal(0, 1, observed=[1.0]), r"given by kg.observe\(data, kg.normal\(...\)\)"),
        (
            lambda: kg.normal(0, 1, sdd=1),
            r"no parameter sdd \(.*test_words.py:\d+\). It takes mean",
        ),
        (lambda: kg.RandomStreams(1).uniform(low=0), "low .*; here it is called min"),
        (lambda: kg.RandomStreams(1).choice(3, size=4), "no parameter size"),
    ],
)
def test_answers(write, text):
    with pytest.raises(TypeError, match=text):
        write()


def test_every_word_is_one_for_some_parameter():
    ours = {p.name for family in FAMILIES.values() for p in family.parameters}
    for function in FUNCTIONS.values():
        ours |= set(inspect.signature(function).parameters)
    for word, meant in WORDS.items():
        assert set(meant) <= ours, word


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_distribution_answers(name):
    with pytest.raises(TypeError, match=f"{name}: there is no parameter no_such_word .*It takes"):
        FUNCTIONS[name](no_such_word=1)
