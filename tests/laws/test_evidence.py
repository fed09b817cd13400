"""The evidence and the weights of modes by `kg.temper`, against closed forms.

Each law combines the runs of some seeds. Errors of log Z are divided by the stated errors, errors
of weights by the binomial error of as many draws as the particles have effective ancestors. A
correct method fails a bound less than once in a million, and the negative controls show what the
bounds find.
"""

import importlib.util
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import kinetograph as kg
from kinetograph.tempering import annealing

FALSE_ALARM = 1e-7  # of a sum of squares; stated errors are estimates, which takes the rest
SEEDS = 5
WEIGHTS = np.array([0.7, 0.3])
CENTRES = np.array([[-4.0, -4.0], [4.0, 2.0]])
SDS = np.array([1.0, 0.5])
STUDIED = ["regression", "shells 2", "labels"]
NEAR = ["eggbox", "shells 10", "rosenbrock 2", "rosenbrock 4"]
BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


def rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(30, 3))
    return x, x @ [1.0, -0.5, 2.0] + rng.normal(size=30)


def evidence_of_regression(scale: float) -> float:
    """The log evidence of a conjugate regression, whose prior has a scale."""
    x, y = rows()
    covariance = np.eye(30) + scale**2 * x @ x.T
    return float(stats.multivariate_normal(np.zeros(30), covariance).logpdf(y))


@cache
def regression(method: str) -> list[Any]:
    """Runs of the regression, with a prior of scale 2."""
    x, y = rows()
    b = kg.normal(0, 2, shape=3, name="b")
    kg.observe(kg.data(y, name="y"), kg.normal(kg.data(x, name="x") @ b, 1.0))
    return runs(kg.model(b), method=method)


@cache
def two_modes() -> kg.Model:
    """Two normals of different widths in a square of side 20."""
    x = kg.uniform(-10, 10, shape=2, name="x")
    terms = [
        np.log(w / (2 * np.pi * s**2)) - kg.sum((x - c) ** 2) / (2 * s**2)
        for w, c, s in zip(WEIGHTS, CENTRES, SDS, strict=True)
    ]
    kg.factor(kg.logaddexp(*terms))
    return kg.model(x)


EVIDENCE_OF_TWO_MODES = -2 * np.log(20)


def runs(model: kg.Model, seeds: int = SEEDS, **more: Any) -> list[Any]:
    """Results of some seeds."""
    more = {"particles": 200, "progress": False, "threads": 1, **more}
    return [kg.temper(model, seed=seed, **more) for seed in range(1, seeds + 1)]


def scores(trees: list[Any], truth: float) -> np.ndarray:
    """The errors of log Z in stated errors."""
    return np.array([(t.attrs["log_evidence"] - truth) / t.attrs["log_evidence_se"] for t in trees])


def assert_evidence(trees: list[Any], truth: float) -> None:
    """The errors of log Z have mean 0 and the stated size."""
    z = scores(trees, truth)
    assert abs(z.sum()) / np.sqrt(len(z)) < 6, f"log Z is biased: {z.round(1)}"
    low, high = stats.chi2.ppf([FALSE_ALARM, 1 - FALSE_ALARM], len(z))
    assert low < (z**2).sum() < high, f"the stated errors are wrong: {z.round(1)}"


def assert_weights(trees: list[Any]) -> None:
    """The weight of the second mode is right."""
    found = np.array([(t["posterior"]["x"].values[..., 0] > 0).mean() for t in trees])
    ancestors = sum(t.attrs["effective_ancestors"] for t in trees)
    error = np.sqrt(WEIGHTS.prod() / ancestors)
    assert abs(found.mean() - WEIGHTS[1]) < 6 * error, f"weights are biased: {found.round(2)}"


@pytest.mark.parametrize("method", ["smc", "nested"])
def test_evidence_of_a_regression(method):
    assert_evidence(regression(method), evidence_of_regression(2.0))


@pytest.mark.parametrize("method", ["smc", "nested"])
def test_evidence_of_another_prior_fails(method):
    with pytest.raises(AssertionError, match=r"log Z is biased|stated errors are wrong"):
        assert_evidence(regression(method), evidence_of_regression(0.2))


def test_two_modes():
    trees = runs(two_modes())
    assert_evidence(trees, EVIDENCE_OF_TWO_MODES)
    assert_weights(trees)


def test_resampling_without_weights_fails(monkeypatch):
    right = annealing.systematic
    monkeypatch.setattr(
        annealing, "systematic", lambda weights, uniform, first: right(0 * weights, uniform, first)
    )
    trees = runs(two_modes())
    with pytest.raises(AssertionError, match="weights are biased"):
        assert_weights(trees)
    with pytest.raises(AssertionError, match="log Z is biased"):
        assert_evidence(trees, EVIDENCE_OF_TWO_MODES)


def benchmark() -> Any:
    """The module of the benchmark, with its problems."""
    sys.path.insert(0, str(BENCHMARKS))
    try:
        spec = importlib.util.spec_from_file_location("evidence", BENCHMARKS / "evidence.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(BENCHMARKS))
    return module


def problem_runs(name: str, seeds: int, **more: Any) -> list[dict[str, Any]]:
    """Errors and costs of runs of a problem of the benchmark."""
    module = benchmark()
    problem = module.PROBLEMS[name]()
    truth = problem.truth()
    model = module.WRITTEN.get(name, module.by_factor)(problem)
    given = {"method": "smc", **more}
    return [module.run(model, problem, truth, seed, given) for seed in range(1, seeds + 1)]


@pytest.mark.slow
@pytest.mark.parametrize("name", STUDIED)
def test_stated_errors(name):
    """Of 50 truths, 44 to 50 lie within two stated errors."""
    found = problem_runs(name, 50)
    within = sum(abs(r["error"]) <= 2 * r["stated"] for r in found)
    assert within >= 44
    z = np.array([r["error"] / r["stated"] for r in found])
    assert stats.chi2.ppf(FALSE_ALARM, 50) < (z**2).sum() < stats.chi2.isf(FALSE_ALARM, 50)


@pytest.mark.slow
@pytest.mark.parametrize("name", NEAR)
def test_problems_with_known_answers(name):
    """Four times the particles bring log Z within 0.1 nats, and right weights of modes."""
    found = problem_runs(name, 3, particles=4000)
    assert abs(np.mean([r["error"] for r in found])) < 0.1
    for r in found:
        assert abs(r["error"]) < 5 * r["stated"]
        assert (np.abs(r["weights"]) < 6 * r["weights_stated"]).all()
