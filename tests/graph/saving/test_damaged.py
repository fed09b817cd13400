"""Damaged files with a right checksum are refused, or work."""

import json
import random
from pathlib import Path

import numpy as np
import pytest
from tests.graph.saving.test_file import nested, rewrite, statements

import kinetograph as kg


def stateful():
    x, total = kg.placeholder(name="x"), kg.state(1.0, name="total")
    kg.check(x > 0, "x must be positive")
    return {"x": x, "y": total.assign_add(x)}


def mixed():
    x = kg.placeholder((3,), name="x")
    noise = kg.RandomStreams(5).normal(0.0, 1.0, shape=3, name="noise")
    rows = kg.vmap(lambda v: kg.while_loop(lambda z: z < 2, lambda z: z * 1.5 + 0.1, [v])[0])(x)
    chosen = kg.switch(kg.argmax(x), [lambda: x[0], lambda: x[1] * 2, lambda: kg.log(x[2])])
    return {"x": x, "y": kg.where(x[::-1] > 1, rows, x.at[1].set(4.0)) + chosen + noise}


def mixture():
    weights = kg.dirichlet([1.0, 2.0])
    mean, sd = kg.normal(0, 1, shape=2, name="mean"), kg.normal(0, 1, truncation=(0, None))
    parts = kg.normal(mean[0], 1), kg.normal(mean[1], sd)
    kg.observe([1.0, 2.0], kg.mixture(*parts, weights=weights))
    return {"mean": mean, "sd": sd, "weights": weights}


GRAPHS = {
    "nested": nested,
    "stateful": stateful,
    "mixed": mixed,
    "likelihoods": lambda: {"mu": statements()},
    "mixture": mixture,
}
# Encoded values that are wrong for most fields.
VALUES = [
    *(None, 0, -1, 10**20, 2.5, 1e300, True, "x", "float64"),
    *([], ["@", 0], ["@", 3], ["tuple"], ["tuple", 3], ["tuple", ["@", 1]], ["list"]),
    *(["dict"], ["set"], ["array", 0], ["dtype", "<f4"], ["slice", None, None, None]),
]


def changed(value, chance):
    """Another value of the same kind, or one of `VALUES`."""
    if type(value) is bool:
        return not value
    if type(value) is int:
        return value + chance.choice([-2, -1, 1, 2, 7])
    if type(value) is float:
        return chance.choice([-value, value + 1, float("nan")])
    if isinstance(value, list) and len(value) > 1:
        copy, place = list(value), chance.randrange(1, len(value))
        if chance.random() < 0.3:
            del copy[place]
        else:
            copy[place] = changed(copy[place], chance)
        return copy
    return chance.choice(VALUES)


def damage(content, chance):
    """Remove, replace or change a field of an object."""
    rows = [fields for _, fields in content["rows"] if fields]
    fields = chance.choice(rows)
    name = chance.choice(list(fields))
    how = chance.random()
    if how < 0.1:
        del fields[name]
    elif how < 0.4:
        same_name = [other[name] for other in rows if name in other]
        fields[name] = chance.choice(VALUES + same_name)
    else:
        fields[name] = changed(fields[name], chance)


def use(graph):
    """Compute, differentiate and describe the loaded arrays."""
    if "x" not in graph:
        model = kg.model(*graph.values())
        model.gradient(np.full(model.free_size, 0.3))
        repr(model)
        return
    x, y = graph["x"], graph["y"]
    kg.compile([x], [y, kg.gradients(kg.sum(y), x)])(np.full(x.shape, 0.7))
    repr(y)
    kg.draw_graph(y)


def check(path: Path, name: str, seeds: range) -> int:
    """Damage a file in many ways; return the number of refusals."""
    kg.save_graph(path, GRAPHS[name]())
    content, refused = path.read_bytes(), 0
    use(kg.load_graph(path))
    for seed in seeds:
        chance = random.Random(f"{name} {seed}")

        def change(text, chance=chance):
            document = json.loads(text)
            damage(document, chance)
            return json.dumps(document)

        path.write_bytes(content)
        rewrite(path, change)
        try:
            graph = kg.load_graph(path)
        except kg.KinetographError:
            refused += 1
            continue
        try:
            use(graph)
        except kg.KinetographError:  # for example about shapes of another program
            continue
        except Exception as error:
            raise AssertionError(f"{name}, {seed}") from error
    return refused


def distributions():
    """A distribution of each family, with unknown parameters and bounds.

    Further kinds of unknowns are included.
    """
    r = kg.lognormal(0, 1, name="r")
    p = kg.beta(1 + r, 2, name="p")
    weights = kg.dirichlet([1.0, 2.0, 3.0])
    chol, scale = kg.lkj_cholesky(1.0, 3), np.eye(3) * r
    real = [kg.normal, kg.cauchy, kg.gumbel, kg.laplace, kg.logistic, kg.lognormal]
    positive = [kg.gamma, kg.inverse_gamma, kg.pareto, kg.wald, kg.weibull, kg.f, kg.beta]
    one = [kg.chi_squared, kg.exponential, kg.half_cauchy, kg.half_normal, kg.poisson]
    return [
        *(family(0, r, shape=2) for family in real),
        *(family(r, 2.0) for family in positive),
        *(family(r, truncation=(1, 9)) for family in one),
        *(kg.student(5.0, 0.0, r), kg.skew_normal(0.0, r, 1.0), kg.uniform(0, r)),
        *(kg.half_student(3, r), kg.von_mises(0, r), kg.asymmetric_laplace(0, r, 0.5)),
        *(kg.exponentially_modified_normal(0, 1, r), kg.wishart(5, scale), chol),
        *(kg.bernoulli(p), kg.bernoulli(logit=r), kg.binomial(4, p), kg.binomial(4, logit=r)),
        *(kg.beta_binomial(4, r, 2.0), kg.geometric(p), kg.discrete_uniform(0, 4)),
        *(kg.hypergeometric(5, 6, 4), kg.negative_binomial(r, p), kg.poisson(log_rate=r)),
        *(kg.negative_binomial(mean=r, dispersion=2.0), kg.zero_inflated_poisson(p, r)),
        *(kg.hurdle_poisson(p, r), kg.hurdle_negative_binomial(p, r, 0.5)),
        *(kg.zero_inflated_negative_binomial(p, r, 0.5), kg.categorical(weights)),
        *(kg.categorical(logit=weights), kg.multinomial(4, weights)),
        *(kg.dirichlet_multinomial(4, weights), kg.ordered_logistic(r, [-1.0, 0.5])),
        *(kg.ordered_probit(r, [-1.0, 0.5]), kg.lkj_correlation(1.0, 3)),
        *(kg.multivariate_normal(np.zeros(3), scale), kg.multivariate_normal(weights, chol=chol)),
        *(kg.multivariate_normal(weights, precision=scale), kg.zero_sum_normal(r, 4)),
        *(kg.multivariate_student(r, np.zeros(3), scale), kg.ar([0.5, 0.1], r, 5)),
        *(kg.random_walk(r, 5), kg.markov_chain(weights, np.full((3, 3), 1 / 3), 6)),
        kg.matrix_normal(np.zeros((2, 3)), np.eye(2), np.eye(3)),
        kg.mixture(kg.normal(0, 1), kg.normal(r, 1), weights=[0.5, 0.5]),
        kg.normal([0.0, 1.0], r, truncation=([-1.0, -np.inf], [2.0, 3.0])),
    ]


def test_every_distribution_can_be_loaded(tmp_path):
    arrays = distributions()
    kg.save_graph(tmp_path / "graph.kg", arrays)
    loaded = kg.load_graph(tmp_path / "graph.kg")
    assert [x.shape for x in loaded] == [x.shape for x in arrays]


@pytest.mark.parametrize("name", GRAPHS)
def test_damage_is_refused_when_loading_or_does_no_harm(tmp_path, name):
    assert check(tmp_path / "graph.kg", name, range(4)) > 0


@pytest.mark.slow
@pytest.mark.parametrize("name", GRAPHS)
def test_much_damage_is_refused_when_loading_or_does_no_harm(tmp_path, name):
    assert check(tmp_path / "graph.kg", name, range(1000, 1100)) > 40
