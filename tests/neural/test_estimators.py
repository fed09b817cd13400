"""Ensembles by scikit-learn's protocol."""

import copy
import pickle

import jax
import numpy as np
import optax
import pandas as pd
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import check_estimator

import kinetograph as kg
from kinetograph.neural import ensembles

SMALL = {"members": 2, "draws": 20, "thin": 5, "warmup": 200, "epochs": 200, "patience": 50}


@pytest.fixture(scope="module")
def line():
    """A straight line with noise, in units far from 1."""
    rng = np.random.default_rng(2)
    x = rng.uniform(100, 300, size=(400, 1))
    return x, 1000 + 3 * x[:, 0] + 0.5 * 100 * rng.normal(size=400)


@pytest.fixture(scope="module")
def fitted(line):
    network = kg.neural.mlp([4])
    return kg.neural.EnsembleRegressor(network, **SMALL, prior=1.0).fit(*line)


def test_predictions_are_in_the_units_of_the_labels(line, fitted):
    x, y = line
    mean, sd = fitted.predict(x, return_std=True)
    np.testing.assert_array_equal(mean, fitted.predict(x))
    truth = 1000 + 3 * x[:, 0]
    assert np.sqrt(np.mean((mean - truth) ** 2)) < 20  # the error of least squares is 3.5
    assert 40 < sd.mean() < 65
    ends = fitted.predict_interval(x, 0.9)
    covered = np.mean((ends[:, 0] < y) & (y < ends[:, 1]))
    assert abs(covered - 0.9) < 0.06  # 4 standard errors of 400 rows


def test_intervals_and_scores_are_those_of_the_mixture(line, fitted):
    x = line[0][:3]
    outputs = fitted._outputs(fitted._inputs(x))
    means, sds = fitted._normals(outputs.reshape(-1, 3, 2))
    for row, (low, high) in enumerate(fitted.predict_interval(x, 0.5)):
        mixture = stats.norm(means[:, row], sds[:, row])
        np.testing.assert_allclose(mixture.cdf(low).mean(), 0.25, atol=1e-9)
        np.testing.assert_allclose(mixture.cdf(high).mean(), 0.75, atol=1e-9)
    labels = line[1][:3]
    expected = [np.log(stats.norm(means[:, i], sds[:, i]).pdf(labels[i]).mean()) for i in range(3)]
    np.testing.assert_allclose(fitted.log_score(x, labels), expected, rtol=1e-9)
    np.testing.assert_array_equal(fitted.cdf(x, labels[:, None]), fitted.cdf(x, labels))


def test_the_same_seed_gives_the_same_members(line, fitted):
    again = clone(fitted).fit(*line)
    np.testing.assert_array_equal(again.members_.draws, fitted.members_.draws)
    other = clone(fitted).set_params(seed=1, draws=0).fit(*line)
    assert not np.allclose(other.members_.draws[:, 0], fitted.members_.training.parameters)


@pytest.mark.slow
def test_pipelines_and_cross_validation(line):
    pipeline = make_pipeline(
        StandardScaler(),
        kg.neural.EnsembleRegressor((), **SMALL | {"draws": 0}, optimizer=optax.adam(0.1)),
    )
    assert cross_val_score(pipeline, *line, cv=2).min() > 0.8


@pytest.mark.parametrize("draws", [0, pytest.param(5, marks=pytest.mark.slow)])
def test_classes(draws):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(200, 2))
    y = np.array(["a", "b", "c"])[(x[:, 0] > 0).astype(int) + (x[:, 0] > 1)]
    model = kg.neural.ensemble((6,), (x, y), **SMALL | {"draws": draws})
    chances = model.predict_proba(x)
    np.testing.assert_allclose(chances.sum(1), 1, rtol=1e-6)
    assert model.score(x, y) > 0.9
    assert list(model.classes_) == ["a", "b", "c"]
    expected = np.log(chances[np.arange(200), np.searchsorted(["a", "b", "c"], y)])
    np.testing.assert_allclose(model.log_score(x, y), expected, rtol=1e-9)
    np.testing.assert_allclose(model.log_score(x, pd.Series(y).to_frame()), expected, rtol=1e-9)


def test_the_summary_is_of_predictions(fitted):
    table = fitted.summary()
    assert len(table.names) == 50
    assert table["mean", "prediction[0]"] == pytest.approx(
        float(fitted._function_values(fitted._outputs(fitted._probe))[..., 0].mean()), rel=1e-6
    )


@pytest.mark.parametrize(
    ("step_size", "wanted"), [(1e-7, True), (0.02, False)], ids=["stays", "moves"]
)
def test_members_that_do_not_mix_are_named(step_size, wanted, recwarn):
    """Of a line: its posterior is normal, and members that move agree."""
    x = np.linspace(-1, 1, 30)[:, None]
    y = x[:, 0] + 0.3 * np.random.default_rng(1).normal(size=30)
    settings = {"members": 3, "draws": 50, "thin": 20, "warmup": 0, "epochs": 300}
    sampler = kg.samplers.BAOAB(step_size, friction=2.0, scale=1.0)
    model = kg.neural.EnsembleRegressor((), **settings, sampler=sampler).fit(x, y)
    texts = [str(w.message) for w in recwarn if issubclass(w.category, kg.SamplingWarning)]
    assert bool(texts) == wanted
    found = model.summary()
    most = max(found["r_hat", name] for name in found.names)
    if wanted:
        assert most > 2
        assert "the predictions of members disagree: R-hat is above 1.2 at 30 of 30" in texts[0]
        assert f"at most {most:.2f}" in texts[0]
        assert "warmup=1000 or thin=40, or a larger step size of the sampler" in texts[0]
    else:
        assert most < 1.1


def test_many_rows_are_predicted_in_parts(line, fitted, monkeypatch):
    whole = fitted.predict(line[0], return_std=True)
    monkeypatch.setattr(ensembles, "ELEMENTS", 40 * 7)  # 7 rows of 2 members with 20 draws
    for part, expected in zip(fitted.predict(line[0], return_std=True), whole, strict=True):
        np.testing.assert_allclose(part, expected, rtol=1e-5)
    scores = fitted.log_score(*line)
    monkeypatch.undo()
    np.testing.assert_allclose(scores, fitted.log_score(*line), rtol=1e-4, atol=1e-5)


OTHER = {  # settings that differ from those of a fit
    "network": (3, 3),
    "activation": "tanh",
    "members": 7,
    "draws": 3,
    "thin": 9,
    "warmup": 1,
    "prior": 0.1,
    "sampler": kg.samplers.NUTS(),
    "optimizer": optax.sgd(0.1),
    "epochs": 1,
    "batch_size": 2,
    "patience": 1,
    "held_out": 0.5,
    "seed": 8,
    "progress": True,
}


@pytest.mark.parametrize(
    "copied", [lambda m: pickle.loads(pickle.dumps(m)), copy.deepcopy], ids=["pickle", "deepcopy"]
)
def test_a_copied_ensemble_keeps_the_settings_of_its_fit(copied):
    """Also after set_params, which is for the next fit."""
    x = np.linspace(-1, 1, 12)[:, None]
    settings = SMALL | {"draws": 4, "warmup": 4, "epochs": 4}
    model = kg.neural.EnsembleRegressor((4,), **settings).fit(x, np.sin(x[:, 0]))
    assert OTHER.keys() == model.get_params().keys()
    again = copied(model).set_params(**OTHER)
    before = dict(again.__dict__)
    for method in ("predict", "predict_interval"):
        wanted = getattr(model, method)(x)
        np.testing.assert_array_equal(getattr(again, method)(x), wanted)
    assert str(again.summary()) == str(model.summary())
    assert again.__dict__ == before
    again = copied(again.set_params(optimizer=None))  # those of optax cannot be pickled
    np.testing.assert_array_equal(again.predict(x), model.predict(x))
    again = copied(clone(model).set_params(network=(5,)))
    assert again.set_params(draws=0).fit(x, x[:, 0]).members_.draws.shape[-1] == 2 * 5 + 6 * 2


def test_a_constant_column_does_not_matter():
    x = np.linspace(-1, 1, 60)[:, None]
    settings = SMALL | {"draws": 0, "epochs": 4}

    def predictions(value, new):
        model = kg.neural.EnsembleRegressor((3,), **settings)
        rows = np.c_[x, np.full(60, value)]
        return model.fit(rows, x[:, 0]).predict(np.c_[x, np.full(60, new)])

    assert ensembles.spread(np.full(60, 0.1)) == 1  # of labels
    near = 0.1 + 1e-9
    np.testing.assert_allclose(predictions(0.1, near), predictions(7.0, 7.0), rtol=1e-5, atol=1e-6)


def test_a_pickled_network_is_the_same_function():
    network = kg.neural.mlp([3], ["tanh"])
    again = pickle.loads(pickle.dumps(network))
    start = network.start(jax.random.key(1), np.zeros(2), 1)
    rows = np.ones((2, 2))
    np.testing.assert_array_equal(again.outputs(start, rows), network.outputs(start, rows))


@pytest.mark.slow
def test_a_grid_search_chooses_the_network_that_fits():
    x = np.linspace(-2, 2, 90)[:, None]
    y = x[:, 0] ** 2
    search = GridSearchCV(
        kg.neural.EnsembleRegressor(**SMALL | {"draws": 0}, optimizer=optax.adam(0.02)),
        {"network": [(), kg.neural.mlp([8], "tanh")]},
        cv=KFold(2, shuffle=True, random_state=0),
    ).fit(x, y)
    assert search.best_params_["network"] != ()
    assert search.best_score_ > 0.4  # a line explains nothing of a parabola


@pytest.mark.parametrize(
    "check",
    [
        "check_no_attributes_set_in_init",
        "check_parameters_default_constructible",
        "check_get_params_invariance",
        "check_set_params",
        "check_fit2d_1feature",
        pytest.param("check_n_features_in", marks=pytest.mark.slow),
        pytest.param("check_estimators_nan_inf", marks=pytest.mark.slow),
        pytest.param("check_dict_unchanged", marks=pytest.mark.slow),
    ],
)
def test_checks_of_scikit_learn(check):
    estimator = kg.neural.EnsembleRegressor((2,), members=1, draws=0, epochs=2)
    getattr(estimator_checks, check)("EnsembleRegressor", estimator)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", [kg.neural.EnsembleRegressor, kg.neural.EnsembleClassifier])
def test_all_checks_of_scikit_learn(kind):
    """One asks that predictions of one row and of many agree to 1e-7, in single precision."""
    estimator = kind((8,), members=1, draws=0, epochs=1000)
    results = check_estimator(estimator, on_fail=None, on_skip=None)
    assert len(results) > 40
    other = {r["check_name"]: r["exception"] for r in results if r["status"] == "failed"}
    other.pop("check_methods_subset_invariance", None)
    assert not other


@pytest.mark.slow
def test_predictions_of_one_row_and_of_many(line, fitted):
    x = line[0][:50]
    each = [fitted.predict(row[None])[0] for row in x]
    np.testing.assert_allclose(each, fitted.predict(x), rtol=1e-5, atol=1e-5)


def test_the_distribution_function_is_that_of_the_mixture(line, fitted):
    """Its values at the ends of central intervals are known."""
    x = line[0][:5]
    low, high = fitted.predict_interval(x, 0.8).T
    np.testing.assert_allclose(fitted.cdf(x, low), 0.1, atol=1e-8)
    np.testing.assert_allclose(fitted.cdf(x, high), 0.9, atol=1e-8)


def test_wrong_labels(line, fitted):
    with pytest.raises(kg.ShapeError, match=r"expected 400 labels, one for each row, got"):
        fitted.log_score(line[0], np.zeros(3))


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"members": 0}, "members must be a whole number of at least 1, got 0"),
        ({"draws": 2.5}, "draws must be a whole number of at least 0, got 2.5"),
        ({"batch_size": 0}, "batch_size must be a whole number of at least 1, got 0"),
        ({"patience": -1}, "patience must be a whole number of at least 1, got -1"),
        ({"held_out": 1.0}, "held_out must be a part of the rows"),
        ({"held_out": "a"}, "held_out must be a part of the rows"),
        ({"members": True}, "members must be a whole number of at least 1, got True"),
        ({"held_out": 0.999}, "held_out=0.999 leaves none of the 400 rows for training"),
        ({"seed": 2**63}, r"seed must be a whole number of at least 0 and below 2\*\*63, got 922"),
        ({"seed": 2**64}, r"seed must be a whole number of at least 0 and below 2\*\*63, got 184"),
        ({"seed": None}, "seed must be a whole number of at least 0, got None"),
        ({"sampler": "NUTS"}, "sampler must be a sampler, .* got 'NUTS'"),
        ({"optimizer": "adan"}, "expected optimizer=optax.* got 'adan'"),
        ({"network": "deep"}, "EnsembleRegressor: expected kg.neural.mlp"),
    ],
)
def test_wrong_settings(line, settings, text):
    with pytest.raises((TypeError, ValueError), match=text):
        kg.neural.EnsembleRegressor(**SMALL | settings).fit(*line)


def test_one_class_and_wrong_kinds(line):
    with pytest.raises(kg.DataError, match="all labels are 'a', one class"):
        kg.neural.ensemble((2,), (line[0], ["a"] * 400), **SMALL)
    with pytest.raises(ValueError, match="kind must be 'regression' or 'classification'"):
        kg.neural.ensemble((2,), line, kind="ranking")
    with pytest.raises(ValueError, match="NaN"):
        kg.neural.ensemble((2,), (np.full((400, 1), np.nan), line[1]))


def test_labels_that_scores_do_not_fit(line, fitted):
    rows = line[0][:2]
    with pytest.raises(kg.DataError, match="log_score: labels must be numbers, got 'a'"):
        fitted.log_score(rows, ["a", "b"])
    with pytest.raises(kg.DataError, match="cdf: the label of row 1 is nan"):
        fitted.cdf(rows, [0.0, np.nan])
    with pytest.raises(kg.DataError, match="labels of different types: NoneType, str"):
        kg.neural.EnsembleClassifier().fit(rows, np.array(["a", None], object))
    with pytest.raises(TypeError, match=r"data must be a pair \(inputs, labels\), got ndarray"):
        kg.neural.ensemble((2,), rows)
