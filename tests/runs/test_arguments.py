"""What `kg.mcmc` refuses, before anything is compiled, and how it says so."""

import numpy as np
import pytest
from tests.runs.models import gaussian, run, schools, weights

import kinetograph as kg
from kinetograph.runs import run as module

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")


@pytest.fixture(autouse=True)
def _nothing_is_compiled(request, monkeypatch):
    """A refusal has to come before the compiler."""
    if "runs" not in request.keywords:
        monkeypatch.setattr(module, "build", lambda *a: pytest.fail("compiled before the check"))


@pytest.mark.parametrize("thing", [3, "model", None, [1.0], kg.samplers.NUTS()])
def test_not_a_model(thing):
    with pytest.raises(TypeError, match=r"mcmc: the first argument is .*, not a model \("):
        kg.mcmc(thing)


def test_an_array_instead_of_a_model():
    x = kg.normal(0, 1)
    with pytest.raises(
        TypeError, match=r"the array x, not a model .*; make one with kg\.model\(x\)"
    ):
        kg.mcmc(x)


def test_unknown_argument():
    with pytest.raises(TypeError, match="n_draws"):
        run(gaussian(), n_draws=10)


@pytest.mark.parametrize("name", ["draws", "warmup", "chains", "thin", "threads"])
@pytest.mark.parametrize("value", [-1, 1.0, 2.5, "10", True, np.nan, np.float64(3), [4]])
def test_numbers_have_to_be_whole_and_not_negative(name, value):
    with pytest.raises(ValueError, match=f"{name} must be a whole number of at least"):
        run(gaussian(), **{name: value})


@pytest.mark.parametrize("name", ["chains", "thin", "threads"])
def test_zero_is_too_few(name):
    with pytest.raises(ValueError, match=f"{name} must be a whole number of at least 1, got 0"):
        run(gaussian(), **{name: 0})


def test_too_many_transitions():
    with pytest.raises(ValueError, match="too many"):
        run(gaussian(), draws=10**6, thin=10**6)


@pytest.mark.parametrize("seed", [-1, 1.0, "1", True, np.float64(2), [1, 2]])
def test_bad_seed(seed):
    with pytest.raises(ValueError, match="seed must be a whole number"):
        run(gaussian(), seed=seed)


def test_a_sampler_class_instead_of_an_instance():
    with pytest.raises(TypeError, match=r"sampler is a class .*; write sampler=NUTS\(\)"):
        run(gaussian(), sampler=kg.samplers.NUTS)


@pytest.mark.parametrize("sampler", ["NUTS", 3, object()])
def test_not_a_sampler(sampler):
    with pytest.raises(TypeError, match="is not a sampler"):
        run(gaussian(), sampler=sampler)


@pytest.mark.parametrize("progress", ["yes", 3, object()])
def test_bad_progress(progress):
    with pytest.raises(TypeError, match="progress must be True, False or a Progress"):
        run(gaussian(), progress=progress)


BAD_INITIAL = {
    "unknown name": ({"nu": 1.0}, kg.ModelError, "'nu' is not an unknown of this model"),
    "wrong shape": ({"z": np.zeros(7)}, kg.ShapeError, r"z: expected shape \(8,\), got \(7,\)"),
    "outside the support": ({"tau": -1.0}, ValueError, "tau: must be .*, got -1"),
    "on the edge": ({"tau": 0.0}, ValueError, "tau"),
    "not finite": ({"mu": np.nan}, ValueError, "mu"),
    "words": ({"mu": "high"}, (TypeError, ValueError), "mu|high"),
    "too few points": ([{"mu": 1.0}], kg.ModelError, "initial has 1 point for 2 chains"),
    "no dictionaries": (["a", "b"], TypeError, "initial must be a dictionary"),
    "a string": ("here", ValueError, "initial must be a dictionary .* got 'here'"),
    "a number": (3.0, (TypeError, ValueError), "initial"),
    "a free state too short": (np.zeros(9), kg.ShapeError, r"got \(9,\)"),
    "free states for other chains": (np.zeros((3, 10)), kg.ShapeError, r"\(2, 10\)"),
    "a function": (lambda: 1, TypeError, "initial"),
}


@pytest.mark.parametrize("case", BAD_INITIAL)
def test_bad_initial_points(case):
    initial, kind, text = BAD_INITIAL[case]
    with pytest.raises(kind, match=text):
        run(schools(), initial=initial)


def test_an_initial_point_outside_a_simplex():
    with pytest.raises(ValueError, match="share"):
        run(weights(), initial={"share": [0.5, 0.5, 0.5]})
