"""Random programs three ways, and the derivatives of staged programs."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from tests.autograph.harness import compare, python_values, run_converted, run_python, run_staged
from tests.autograph.programs import CALLS, RESULT, Dual, compiled, programs

import kinetograph as kg


def examples(count):
    """Settings for a number of programs that are the same in each run."""
    return settings(
        max_examples=count,
        derandomize=True,
        deadline=None,
        database=None,
        report_multiple_bugs=False,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


def check(source, runner, exact):
    with compiled(source) as program:
        expected = run_python(program, CALLS)
        assert all(outcome.error is None for outcome in expected), source
        for call, one, other in zip(CALLS, expected, runner(program, CALLS), strict=True):
            found = compare(one, other, exact=exact)
            if found:
                raise AssertionError(f"{found}\nprogram{call}\n{source}") from other.error


@given(programs())
@examples(25)
def test_converted_programs(source):
    check(source, run_converted, exact=True)


@given(programs())
@examples(5)
def test_staged_programs(source):
    check(source, run_staged, exact=False)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@given(programs(size=18))
@examples(1000)
def test_many_staged_programs(source):
    check(source, run_staged, exact=False)


def slopes(program, call, wrt):
    """What x and y at the end change by, per change of an argument; by dual numbers in Python."""
    own = list(call)
    own[5:7] = call[5].copy(), call[6].copy()
    for i in (3, 4):
        own[i] = Dual(call[i], float(i == wrt))
    with python_values():
        result = program(*own)
    return [Dual.of(part).slope for part in result[3:5]]


def staged_slopes(program, calls):
    """The same by reverse differentiation of the compiled graph."""
    types = (int, int, int, float, float, int, int, int)
    shapes = [np.shape(part) for part in calls[0]]
    inputs = [kg.placeholder(shape, dtype=t) for shape, t in zip(shapes, types, strict=True)]
    outputs = kg.function(program)(*inputs)[3:5]
    gradients = [kg.gradients(out, inputs[3:5]) for out in outputs if isinstance(out, kg.Array)]
    f = kg.compile(inputs, [part for pair in gradients for part in pair])
    return [np.reshape(f(*call), (2, 2)) for call in calls]


@given(programs(size=8))
@examples(3)
def test_derivatives_of_staged_programs(source):
    with compiled(source) as program:
        for call, found in zip(CALLS, staged_slopes(program, CALLS), strict=True):
            expected = np.transpose([slopes(program, call, wrt) for wrt in (3, 4)])
            np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12, err_msg=source)


def test_dual_numbers_differentiate():
    x = Dual(3.0, 1.0)
    y = 2 * x * x - x * 0.5 + (1 - x)
    assert (y.value, y.slope) == (14.5, 10.5)
    assert x > 2
    assert x < 3.5


MUTATIONS = {
    "break": "pass",
    "continue": "pass",
    RESULT: "pass",
    "else:": "if True:",
    "= zero": "= zero + 1",
    "0.5": "0.6",
}


@pytest.mark.slow
def test_programs_react_to_a_change_of_their_text():
    """The control: a conversion that got one construct wrong would be seen in many programs."""
    changed = dict.fromkeys(MUTATIONS, 0)

    @given(programs())
    @examples(200)
    def change(source):
        with compiled(source) as program:
            expected = run_python(program, CALLS)
        head, last = source.rsplit("    return", 1)
        for old, new in MUTATIONS.items():
            if old in head:
                with compiled(f"{head.replace(old, new)}    return{last}") as mutant:
                    pairs = zip(expected, run_python(mutant, CALLS), strict=True)
                    changed[old] += any(compare(one, two, exact=True) for one, two in pairs)

    change()
    assert min(changed.values()) >= 4, changed
