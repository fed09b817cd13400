"""Names of the objects that graphs refer to."""

import functools
import importlib
import json
import subprocess
import sys

import jax
import jax.numpy as jnp
import pytest

import kinetograph as kg
from kinetograph.graph.operations.elementwise import ELEMENTWISE
from kinetograph.graph.saving.references import (
    find_function,
    name_of_function,
    own_object,
    own_reference,
)

ALL_OPERATIONS = """
import gc
import kinetograph as kg
from kinetograph.graph.node import Operation
from kinetograph.graph.saving.references import own_object, own_reference
for op in [value for value in gc.get_objects() if isinstance(value, Operation)]:
    reference = own_reference(op)
    assert reference is not None, op
    assert own_object(reference) is op, op
"""


def test_every_operation_has_a_name():
    done = subprocess.run(
        [sys.executable, "-c", ALL_OPERATIONS], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "value", [ELEMENTWISE["log"], ValueError, kg.CheckError, AssertionError], ids=repr
)
def test_names_lead_back(value):
    reference = json.loads(json.dumps(own_reference(value)))
    assert own_object(reference) is value


@pytest.mark.parametrize(
    "value", [print, len, jnp.sin, object, json.dumps, SystemExit, 3], ids=range(7)
)
def test_what_is_not_kinetographs_has_none(value):
    assert own_reference(value) is None


@pytest.mark.parametrize(
    "reference",
    [
        ["os", "system"],
        ["builtins", "eval"],
        ["builtins", "SystemExit"],
        ["kinetograph.graph.operations.elementwise", "np"],
        ["kinetograph.graph.operations.elementwise", "literal"],
        ["kinetograph.distributions.normal", "jnp"],
        ["kinetograph.runs.mcmc", "mcmc"],
        [["kinetograph"], {}],
    ],
    ids=str,
)
def test_other_names_mean_nothing(reference):
    with pytest.raises((LookupError, TypeError)):
        own_object(reference)


@jax.custom_jvp
def squared(x):
    return x * x


@jax.jit
def doubled(x):
    return 2 * x


def staged():
    return lambda x: x


@pytest.mark.parametrize("function", [jnp.sinc, jnp.argmax, jax.nn.relu, jax.scipy.special.erf])
def test_libraries_functions_have_public_names(function):
    name = name_of_function(function)
    assert "._" not in name
    assert find_function(name) is function


@pytest.mark.parametrize("function", [squared, doubled, staged], ids=["custom_jvp", "jit", "plain"])
def test_functions_of_modules_have_names(function):
    assert find_function(name_of_function(function)) is function


def test_a_function_compiled_where_it_is_used_has_the_name_of_what_it_computes():
    assert find_function(name_of_function(jax.jit(jnp.sinc))) is jnp.sinc
    assert find_function(name_of_function(jax.jit(staged))) is staged


@pytest.mark.parametrize(
    "function",
    [staged(), functools.partial(staged), jax.jit(staged())],
    ids=["lambda", "partial", "jit"],
)
def test_other_functions_have_none(function):
    with pytest.raises(kg.KinetographError, match="must be importable"):
        name_of_function(function)


def test_functions_of_the_program_are_refused(monkeypatch):
    monkeypatch.setattr(staged, "__module__", "__main__")
    with pytest.raises(kg.KinetographError, match="staged is defined in the main program"):
        name_of_function(staged)


@kg.lift
def halved(x):
    return x / 2


def test_an_operation_by_decorator_has_a_name():
    lifted = halved.__lifted__
    name = name_of_function(lifted)
    assert name.endswith("test_references.halved.__lifted__")
    assert find_function(name) is lifted


def test_what_kinetograph_lifts_is_its_own():
    times = kg.data([0.0, 1.0])
    y = kg.ode.solve(lambda t, y: -y, 1.0, times)
    assert float(kg.compile([], y[1])()) == pytest.approx(0.3679, abs=1e-3)
    reached = importlib.import_module("kinetograph.ode.unreached_times")._reached.__lifted__
    reference = own_reference(reached)
    assert reference == ["kinetograph.ode.unreached_times", "_reached"]
    assert own_object(reference) is reached
    with pytest.raises(LookupError):
        own_object(["kinetograph.graph.source", "variable_name"])
