"""Discrete unknowns that cut a series into ranges, against sums written out with SciPy."""

from itertools import product

import numpy as np
import pytest
from scipy import special, stats
from tests.models.marginal.by_hand import check_density_and_gradient

import kinetograph as kg
from kinetograph.models.marginal.cut_tables import CutTable

T = np.arange(9)
COUNTS = np.array([3, 5, 4, 6, 1, 0, 2, 1, 1])
REALS = np.random.default_rng(3).normal(size=9)
ONE, TWO = np.array([0.1, 0.2, 0.05, 0.15, 0.1, 0.3, 0.1]), np.array([0.3, 0.2, 0.4, 0.1])
POINTS = np.random.default_rng(4).normal(0, 0.7, (2, 3))


def levels():
    return [kg.normal(0, 1, name=name) for name in "abc"]


def point(name="s", probabilities=ONE):
    return kg.categorical(probabilities, name=name)


def one_change():
    (a, b, c), s = levels(), point()
    kg.observe(COUNTS, kg.poisson(kg.exp(kg.where(T < s, a, b) + c)))
    return [a, b, c], [ONE], lambda u, s: poisson(np.where(T < s, u[0], u[1]) + u[2])


def a_shifted_change():
    (a, b, c), s = levels(), 2 * point() - 3
    kg.observe(COUNTS, kg.poisson(kg.exp(kg.where(s <= T, a, b) + c)))
    return [a, b, c], [ONE], lambda u, s: poisson(np.where(2 * s - 3 <= T, u[0], u[1]) + u[2])


def unsorted_times():
    (a, b, c), s = levels(), point()
    at = np.array([4.5, 2.0, 2.0, 6.0, -1.0, 0.25, 2.0, 9.0, 5.999])
    kg.observe(REALS, kg.normal(kg.where(kg.data(at) > s, a, b), kg.exp(c)))
    return [a, b, c], [ONE], lambda u, s: normal(np.where(at > s, u[0], u[1]), np.exp(u[2]))


def two_changes():
    (a, b, c), s, r = levels(), point(), point("r", TWO)
    kg.observe(COUNTS, kg.poisson(kg.exp(kg.where(s > T, a, kg.where(T <= 2 * r, b, c)))))
    return (
        [a, b, c],
        [ONE, TWO],
        lambda u, s, r: poisson(np.where(s > T, u[0], np.where(2 * r >= T, u[1], u[2]))),
    )


def a_sum_of_comparisons():
    (a, b, c), s, r = levels(), point(), point("r", TWO)
    rates = kg.stack([a, b, c])
    kg.observe(REALS, kg.normal(rates[(T >= s).astype(int) + (T >= r + 3)], 0.5))
    return (
        [a, b, c],
        [ONE, TWO],
        lambda u, s, r: normal(u[(T >= s).astype(int) + (T >= r + 3)], 0.5),
    )


def three_changes():
    (a, b, c), s, r = levels(), point(), point("r", TWO)
    q = point("q", TWO)
    mean = kg.where(T < s, a, b) + kg.where(T > r, c, 0.0) * kg.where(T != q, 1.0, 2.0)
    kg.observe(REALS, kg.normal(mean, 0.5))

    def by_hand(u, s, r, q):
        return normal(
            np.where(T < s, u[0], u[1]) + np.where(T > r, u[2], 0.0) * np.where(T != q, 1.0, 2.0),
            0.5,
        )

    return [a, b, c], [ONE, TWO, TWO], by_hand


def a_window():
    (a, b, c), s = levels(), point()
    mean = kg.where((T >= s) & (T < s + 3), a, b)
    kg.observe(REALS, kg.normal(mean, kg.where(T < s, 0.5, kg.exp(c))))

    def by_hand(u, s):
        mean = np.where((T >= s) & (T < s + 3), u[0], u[1])
        return normal(mean, np.where(T < s, 0.5, np.exp(u[2])))

    return [a, b, c], [ONE], by_hand


def one_row():
    (a, b, c), s = levels(), point()
    kg.observe(REALS, kg.normal(kg.where(s == T, a, b), kg.exp(c)))
    return [a, b, c], [ONE], lambda u, s: normal(np.where(T == s, u[0], u[1]), np.exp(u[2]))


def all_rows():
    (a, b, c), s = levels(), point()
    kg.observe(REALS, kg.normal(kg.where(s > 3, a, b), kg.exp(c)))
    return [a, b, c], [ONE], lambda u, s: normal(np.where(s > 3, u[0], u[1]), np.exp(u[2]))


def rows_of_several_numbers():
    (a, b, c), s = levels(), kg.categorical(ONE, shape=1, name="s")
    y = np.stack([REALS, REALS[::-1]], 1)
    kg.observe(y, kg.normal(kg.where(T[:, None] < s, a, b) * [1.0, 2.0], kg.exp(c)))

    def by_hand(u, s):
        mean = np.where(T < s, u[0], u[1])[:, None] * [1.0, 2.0]
        return stats.norm(mean, np.exp(u[2])).logpdf(y).sum()

    return [a, b, c], [ONE], by_hand


def two_series():
    (a, b, c), s, r = levels(), point(), point("r", TWO)
    kg.observe(COUNTS, kg.poisson(kg.exp(kg.where(T < s, a, kg.where(T < r, b, c)))))
    kg.observe(REALS[:5], kg.normal(kg.where(T[:5] < r, a, b), 1))
    kg.observe(0.3, kg.normal(s - r + c, 1))

    def by_hand(u, s, r):
        first = poisson(np.where(T < s, u[0], np.where(T < r, u[1], u[2])))
        second = stats.norm(np.where(T[:5] < r, u[0], u[1])).logpdf(REALS[:5]).sum()
        return first + second + stats.norm(s - r + u[2]).logpdf(0.3)

    return [a, b, c], [ONE, TWO], by_hand


def weighted_rows():
    (a, b, c), s = levels(), point()
    weights = np.array([1.0, 2.0, 0.5, 1.0, 3.0, 1.0, 0.0, 1.0, 1.0])
    density = kg.log_density(kg.poisson(kg.exp(kg.where(T < s, a, b + c))), COUNTS)
    kg.factor(weights * density)

    def by_hand(u, s):
        rate = np.exp(np.where(T < s, u[0], u[1] + u[2]))
        return (weights * stats.poisson(rate).logpmf(COUNTS)).sum()

    return [a, b, c], [ONE], by_hand


def impossible_cases():
    """Rows that are impossible before the change, and rows that are impossible after it."""
    (a, b, c), s = levels(), point()
    y = np.array([2.5, 9.0, 1.0, 8.5, 2.0, 0.5, 1.5, 2.0, 0.1])
    upper = kg.where(T < s, kg.exp(a) + 9.0, kg.exp(b) + 2.5)
    kg.factor(kg.log_density(kg.uniform(0, upper), y) * kg.exp(c))

    def by_hand(u, s):
        upper = np.where(T < s, np.exp(u[0]) + 9.0, np.exp(u[1]) + 2.5)
        return stats.uniform(0, upper).logpdf(y).sum() * np.exp(u[2])

    return [a, b, c], [ONE], by_hand


def impossible_observations():
    (a, b, c), s, r = levels(), point(), point("r", TWO)
    y = np.array([2.5, 9.0, 1.0, 8.5, 2.0, 0.5, 1.5, 2.0, 0.1])
    low = kg.where(T < s, -1 - kg.exp(a), kg.where(T < r, 1.2, -1 - kg.exp(b)))
    kg.factor(kg.log_density(kg.pareto(kg.exp(c), 1.0), y - low))

    def by_hand(u, s, r):
        low = np.where(T < s, -1 - np.exp(u[0]), np.where(T < r, 1.2, -1 - np.exp(u[1])))
        return stats.pareto(np.exp(u[2])).logpdf(y - low).sum()

    return [a, b, c], [ONE, TWO], by_hand


def a_sum_of_unknowns():
    (a, b, c), s, r = levels(), point(), point("r", TWO)
    kg.observe(COUNTS, kg.poisson(kg.exp(kg.where(T < s + r, a, b) + c)))
    return (
        [a, b, c],
        [ONE, TWO],
        lambda u, s, r: poisson(np.where(T < s + r, u[0], u[1]) + u[2]),
    )


def a_gap():
    (a, b, c), s, r = levels(), point(), point("r", TWO)
    second = s + r + 1
    kg.observe(COUNTS, kg.poisson(kg.exp(kg.where(T < s, a, kg.where(T < second, b, c)))))
    return (
        [a, b, c],
        [ONE, TWO],
        lambda u, s, r: poisson(np.where(s > T, u[0], np.where(s + r + 1 > T, u[1], u[2]))),
    )


def a_window_of_unknown_length():
    (a, b, c), s, r = levels(), point(), point("r", TWO)
    inside = (s <= T) & (kg.minimum(s + 2 * r, 7) > T)
    kg.observe(REALS, kg.normal(kg.where(inside, a, b), kg.exp(c)))
    return (
        [a, b, c],
        [ONE, TWO],
        lambda u, s, r: normal(
            np.where((s <= T) & (min(s + 2 * r, 7) > T), u[0], u[1]), np.exp(u[2])
        ),
    )


def a_hinge():
    (a, b, c), s = levels(), point()
    kg.observe(REALS, kg.normal(a + b * kg.where(T < s, 0, T - s), kg.exp(c)))

    def by_hand(u, s):
        return normal(u[0] + u[1] * np.where(T < s, 0, T - s), np.exp(u[2]))

    return [a, b, c], [ONE], by_hand


def neighbours():
    (a, b, c), s = levels(), point()
    kg.observe(REALS, kg.normal(kg.cumsum(kg.where(T < s, a, b)), kg.exp(c)))

    def by_hand(u, s):
        return normal(np.cumsum(np.where(T < s, u[0], u[1])), np.exp(u[2]))

    return [a, b, c], [ONE], by_hand


def an_unknown_bound():
    (a, b, c), s = levels(), point()
    kg.observe(REALS, kg.normal(kg.where(T + c < s, a, b), 1.0))
    return [a, b, c], [ONE], lambda u, s: normal(np.where(T + u[2] < s, u[0], u[1]), 1.0)


def poisson(log_rate):
    return stats.poisson(np.exp(log_rate)).logpmf(COUNTS).sum()


def normal(mean, sd):
    return stats.norm(mean, sd).logpdf(REALS).sum()


CUT = [
    one_change,
    a_shifted_change,
    unsorted_times,
    two_changes,
    a_sum_of_comparisons,
    three_changes,
    a_window,
    one_row,
    all_rows,
    rows_of_several_numbers,
    two_series,
    weighted_rows,
    impossible_cases,
    impossible_observations,
    a_sum_of_unknowns,
    a_gap,
    a_window_of_unknown_length,
]
OTHER = [a_hinge, neighbours, an_unknown_bound]


def total(u, domains, by_hand):
    """The log density with all combinations of values written out."""
    sizes = [range(len(p)) for p in domains]
    with np.errstate(divide="ignore"):
        terms = [
            sum(np.log(p[k]) for p, k in zip(domains, each, strict=True)) + by_hand(u, *each)
            for each in product(*sizes)
        ]
    return special.logsumexp(terms) + stats.norm.logpdf(u).sum()


def cuts_in(model):
    return [table.cuts for table in model.density.marginal.tables if table.cuts is not None]


def cases(builds):
    every_day = (one_change, a_gap, unsorted_times, two_changes, a_window, impossible_observations)
    slow = [b for b in builds if b not in (*every_day, neighbours)]
    return [pytest.param(b, marks=[pytest.mark.slow] * (b in slow), id=b.__name__) for b in builds]


@pytest.mark.parametrize("build", cases([*CUT, *OTHER]))
def test_density_and_gradient(build):
    unknowns, domains, by_hand = build()
    model = kg.model(*unknowns)
    assert len(cuts_in(model)) == (build in CUT) + (build is two_series)
    check_density_and_gradient(model, POINTS, lambda u: total(u, domains, by_hand))


def test_a_very_low_density_leaves_the_other_cases_exact():
    """The density of the wrong side is about exp(-1e19); sums of it lose all digits."""
    a, s, r = kg.normal(0, 1, name="a"), point(), point("r", TWO)
    sd = kg.where(T < s, 1e-9, kg.where(T < r, 1e-9, kg.exp(a)))
    kg.observe(REALS, kg.normal(0.0, sd))
    model = kg.model(a)
    assert len(cuts_in(model)) == 1
    expected = np.log(ONE[0] * TWO[0]) + normal(0, 1) + stats.norm.logpdf(0)
    np.testing.assert_allclose(model.log_prob([0.0]), expected, rtol=1e-15)


def test_other_times_in_the_same_model():
    a, b, s = kg.normal(0, 1, name="a"), kg.normal(0, 1, name="b"), point()
    at = kg.data(T, name="at")
    kg.observe(REALS, kg.normal(kg.where(at < s, a, b), 1.0))
    model = kg.model(a, b)
    for times in (T, T[::-1], T // 2, T - 1):
        model.set_data(at=times)
        expected = total(
            POINTS[0, :2], [ONE], lambda u, s, at=times: normal(np.where(at < s, u[0], u[1]), 1.0)
        )
        np.testing.assert_allclose(model.log_prob(POINTS[0, :2]), expected, rtol=1e-12)
    assert len(cuts_in(model)) == 1


def test_another_weight_in_a_sum_of_unknowns():
    a, b, s, r = kg.normal(0, 1, name="a"), kg.normal(0, 1, name="b"), point(), point("r", TWO)
    weight = kg.data(1, name="weight")
    kg.observe(REALS, kg.normal(kg.where(T < s + weight * r, a, b), 1.0))
    model = kg.model(a, b)
    for w in (1, 2, 0, 3):
        model.set_data(weight=w)
        expected = total(
            POINTS[0, :2],
            [ONE, TWO],
            lambda u, s, r, w=w: normal(np.where(T < s + w * r, u[0], u[1]), 1.0),
        )
        np.testing.assert_allclose(model.log_prob(POINTS[0, :2]), expected, rtol=1e-12)
        assert len(cuts_in(model)) == 1


@pytest.mark.parametrize("second", [lambda s, r: r, lambda s, r: s + r])
def test_fewer_evaluations(second, monkeypatch):
    """Two changes of 59 places each: 4 cases of each row, whatever the number of places."""
    sizes, vmapped = [], CutTable._vmapped

    def counted(table, environment, scope, of, at, choices, dead):
        sizes.append(len(choices[0]))
        return vmapped(table, environment, scope, of, at, choices, dead)

    monkeypatch.setattr(CutTable, "_vmapped", counted)
    (a, b, c), places = levels(), np.full(59, 1 / 59)
    s, r = point("s", places), point("r", places)
    mean = kg.exp(kg.where(T < s, a, kg.where(T < second(s, r), b, c)))
    kg.observe(COUNTS, kg.poisson(mean))
    kg.model(a, b, c).log_prob(np.zeros(3))
    assert sorted(sizes) == [4, 59, 59]


DAYS = np.arange(150)
MANY = np.random.default_rng(6).poisson(np.where(DAYS < 40, 2, np.where(DAYS < 90, 7, 1)))


def in_order(first, second):
    kg.factor(kg.where(second > first, 0.0, -np.inf))
    return second


@pytest.mark.parametrize("second", [lambda s, r: r, in_order, lambda s, r: s + r + 1])
@pytest.mark.parametrize("uniform", [False, True])
def test_two_changes_among_many_days(second, uniform):
    (a, b, c), n = levels(), len(DAYS)
    s, r = [
        kg.discrete_uniform(0, n - 1, name=name) if uniform else point(name, np.full(n, 1 / n))
        for name in "sr"
    ]
    later = second(s, r)
    rate = kg.exp(kg.where(DAYS < s, a, kg.where(DAYS < later, b, c)))
    kg.observe(MANY, kg.poisson(rate))
    u = np.array([0.6, 1.9, 0.1])
    rates = stats.poisson(np.exp(u)[:, None]).logpmf(MANY)
    before, middle, after = np.concatenate([np.zeros((3, 1)), np.cumsum(rates, 1)], 1)
    first, other = np.indices((n, n))
    then = np.minimum(first + other + 1, n) if later is not r else other
    between = np.where(then > first, middle[np.maximum(then, first)] - middle[first], 0)
    totals = before[first] + between + after[-1] - after[np.maximum(then, first)]
    if second is in_order:
        totals = np.where(other > first, totals, -np.inf)
    wanted = special.logsumexp(totals) - 2 * np.log(n) + stats.norm.logpdf(u).sum()
    np.testing.assert_allclose(kg.model(a, b, c).log_prob(u), wanted, rtol=1e-12)


def test_two_hinges_among_many_days():
    """The densities of all days at all places are needed, and these are too many."""
    a, s = kg.normal(0, 1, name="a"), point("s", np.full(150, 1 / 150))
    r = point("r", np.full(190, 1 / 190))
    hinges = kg.where(DAYS < s, 0, DAYS - s) + kg.where(DAYS < r, 0, DAYS - r)
    kg.observe(MANY, kg.normal(a * hinges, 1.0))
    said = r"28500 combinations .* at most 26666 .* for 150 elements.*kg\.where\(t < s, a, b\)"
    with pytest.raises(kg.ModelError, match=said):
        kg.model(a)


def test_windows_too_many_for_memory():
    a, (s, r) = kg.normal(0, 1, name="a"), [point(n, np.full(170, 1 / 170)) for n in "sr"]
    t = np.arange(170)
    inside = (t >= s) & (t < s + 3) | (t >= r) & (t < r + 3)
    kg.observe(np.zeros(170), kg.normal(kg.where(inside, a, 0.0), 1.0))
    with pytest.raises(kg.ModelError, match="28900 combinations"):
        kg.model(a)


def test_a_sum_of_unknowns_with_many_values_and_many_rows():
    """The sum has more values than there are combinations; rows are more costly than totals."""
    rows = 200
    t, y = np.arange(rows), np.random.default_rng(1).normal(size=rows)
    a, start = kg.normal(0, 1, name="a"), kg.discrete_uniform(0, rows - 1, name="start")
    length = kg.categorical([0.5, 0.3, 0.2], name="length")
    inside = (start <= t) & (t < start + 4 * length)
    kg.observe(y, kg.normal(kg.where(inside, a, 0.0), 0.7), name="y")
    model = kg.model(a)
    assert len(cuts_in(model)) == 1
    logs = [
        np.log(p / rows)
        + stats.norm.logpdf(y, np.where((s <= t) & (t < s + 4 * k), 0.4, 0.0), 0.7).sum()
        for s in range(rows)
        for k, p in enumerate([0.5, 0.3, 0.2])
    ]
    expected = special.logsumexp(logs) + stats.norm.logpdf(0.4)
    assert model.log_prob([0.4]) == pytest.approx(expected, rel=1e-12)
