"""Likelihoods add up, and models warn about data that count twice."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import kinetograph as kg

VALUES = np.random.default_rng(3).normal(1.0, 1.0, size=24).round(2)


def warned(count):
    """Expect the given number of warnings, and return their texts."""

    class Texts(warnings.catch_warnings):
        def __enter__(self):
            self.log, self.texts = super().__enter__(), []
            warnings.simplefilter("always")
            return self.texts

        def __exit__(self, *info):
            super().__exit__(*info)
            self.texts += [str(w.message) for w in self.log]
            assert all(w.category is kg.KinetographWarning for w in self.log)
            assert len(self.texts) == count, self.texts

    return Texts(record=True)


def terms(model):
    return len(model.component.likelihoods) + len(model.component.factors)


KINDS = {
    "array": lambda: VALUES,
    "list": VALUES.tolist,
    "series": lambda: pd.DataFrame({"y": VALUES})["y"],
    "data anew": lambda: kg.data(VALUES),
}


@pytest.mark.parametrize("kind", [*KINDS, "the same data"])
def test_a_second_likelihood_adds_whatever_the_data_are(kind):
    made = kg.data(VALUES)
    make = KINDS.get(kind, lambda: made)
    mu = kg.normal(0, 1)
    kg.observe(make(), kg.normal(mu, 1))
    with warned(0):
        first = kg.model(mu)
    kg.observe(make(), kg.student(30, mu, 1))
    with warned(1) as texts:
        second = kg.model(mu)
    assert (terms(first), terms(second)) == (1, 2)
    normal = stats.norm.logpdf(VALUES, 0.5).sum() + stats.norm.logpdf(0.5)
    assert float(first.log_prob([0.5])) == pytest.approx(normal)
    both = normal + stats.t.logpdf(VALUES, 30, 0.5).sum()
    assert float(second.log_prob([0.5])) == pytest.approx(both)
    (text,) = texts
    lines = [int(part.split(":")[1].split()[0].rstrip(",;)")) for part in text.split(".py")[1:]]
    assert lines[1] - lines[0] == 3
    assert "as normal at test_double" in text
    assert "as student at test_double" in text
    assert "both count for mu" in text
    assert "kg.model(build)" in text


def test_unknowns_outside_of_a_loop_over_folds():
    mu, tau = kg.normal(0, 1), kg.half_normal(1)
    counts = []
    with warned(4) as texts:
        for fold in range(5):
            kg.observe(np.delete(VALUES, np.s_[fold::5]), kg.normal(mu, tau))
            counts.append(terms(kg.model(mu, tau)))
    assert counts == [1, 2, 3, 4, 5]
    for text in texts:
        assert "mu and tau are in the model made at test_double_counting.py:" in text
        assert "have gained a likelihood since, normal at test_double_counting.py:" in text


def test_one_column_observed_in_two_cells():
    frame = pd.DataFrame({"y": VALUES})
    space = {"kg": kg, "df": frame, "__name__": "__main__", "mu": kg.normal(0, 1, name="mu")}
    cells = ["kg.observe(df['y'], kg.normal(mu, 1))", "kg.observe(df['y'], kg.normal(mu, 2))"]
    with warned(0):
        for number, cell in enumerate(cells):
            exec(compile(cell, f"cell_{number}.py", "exec"), space)
    with warned(1) as texts:
        model = kg.model(space["mu"])
    assert terms(model) == 2
    assert "as normal at cell_0.py:1 and as normal at cell_1.py:1" in texts[0]


def test_one_array_observed_at_two_prompts():
    """An array that its variable still holds counts as the same array."""
    space = {"kg": kg, "y": VALUES, "__name__": "__main__", "mu": kg.normal(0, 1, name="mu")}
    with warned(0):
        for sd in (1, 2):
            exec(compile(f"kg.observe(y, kg.normal(mu, {sd}))", "<stdin>", "exec"), space)
    with warned(1) as texts:
        assert terms(kg.model(space["mu"])) == 2
    assert "y is observed twice" in texts[0]


def test_a_factor_in_a_loop_over_models():
    mu = kg.normal(0, 1)
    with warned(2) as texts:
        for _ in range(3):
            kg.factor(-(mu**2))
            kg.model(mu)
    assert "has gained a term since, factor at test_double_counting.py:" in texts[0]


def test_few_values_that_one_variable_holds():
    mu = kg.normal(0, 1)
    y = [1.0, 0.0]
    kg.observe(y, kg.normal(mu, 1))
    kg.observe(y, kg.normal(mu, 2))
    with warned(1) as texts:
        kg.model(mu)
    assert "y is observed twice" in texts[0]


def test_equal_values_of_two_names():
    mu = kg.normal(0, 1)
    first, second = kg.data(VALUES), kg.data(VALUES.copy())
    kg.observe(first, kg.normal(mu, 1))
    kg.observe(second, kg.normal(mu, 1))
    with warned(1) as texts:
        kg.model(mu)
    assert "first and second hold the same values" in texts[0]


def pieces_of_equal_numbers():
    p = kg.beta(1, 1)
    for label in [0, 1, 1, 1, 0]:
        kg.observe(label, kg.bernoulli(p))
    for history in [[0, 1, 0, 0], [0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]]:
        kg.observe(history, kg.bernoulli(p))
    for _ in range(2):
        kg.observe(np.zeros(40, int), kg.bernoulli(p))
    for pair in ([0.5, 1.0], [0.5, 1.0]):
        kg.observe(pair, kg.normal(p, 1))
    kg.observe([1, 0, 1], kg.bernoulli(p))
    kg.observe([1, 0, 1], kg.bernoulli(p))
    return p


def a_term_for_other_unknowns():
    y = kg.data(VALUES)
    mu, nu = kg.normal(0, 1, name="mu"), kg.normal(0, 1, name="nu")
    kg.observe(y, kg.normal(mu, 1))
    kg.observe(y, kg.normal(nu, 1))
    return mu, nu


def after_a_model_of_the_prior():
    mu = kg.normal(0, 1)
    kg.model(mu)
    kg.observe(VALUES, kg.normal(mu, 1))
    return mu


def many_terms_before_any_model():
    mu = kg.normal(0, 1)
    for i in range(4):
        kg.observe(VALUES[i::4], kg.normal(mu, 1))
        kg.factor(-(mu**2))
    return mu


def again_with_nothing_new():
    mu = kg.normal(0, 1)
    kg.observe(VALUES, kg.normal(mu, 1))
    kg.model(mu)
    return mu


def run_again():
    space = {"kg": kg, "__name__": "__main__", "mu": kg.normal(0, 1, name="mu")}
    kg.observe([4.0], kg.normal(space["mu"], 1))
    cell = compile("y = kg.data([1.0, 2.0]); kg.observe(y, kg.normal(mu, 1))", "<c>", "exec")
    exec(cell, space)
    kg.model(space["mu"])
    with pytest.warns(kg.KinetographWarning, match="replaces"):
        exec(
            compile("y = kg.data([1.0, 2.0]); kg.observe(y, kg.normal(mu, 1))", "<c>", "exec"),
            space,
        )
    return space["mu"]


ORDINARY = [
    pieces_of_equal_numbers,
    a_term_for_other_unknowns,
    after_a_model_of_the_prior,
    many_terms_before_any_model,
    again_with_nothing_new,
    run_again,
]


@pytest.mark.parametrize("make", ORDINARY, ids=lambda make: make.__name__)
def test_what_is_ordinary_is_not_warned_of(make):
    with warned(0):
        made = make()
        kg.model(*(made if isinstance(made, tuple) else (made,)))
