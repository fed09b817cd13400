"""Errors of control flow: their type, text, names of the user and line."""

import re
from collections import namedtuple

import numpy as np
import pytest

import kinetograph as kg

Pair = namedtuple("Pair", "a b")
HERE = r"test_errors\.py:\d+"


def refused(error, *parts, build):
    """Check that an error's message contains all parts and a line of this file."""
    with pytest.raises(error) as caught:
        build()
    message = str(caught.value)
    for part in (*parts, HERE):
        assert re.search(part, message), f"{part!r} is not in {message!r}"
    return message


x = kg.placeholder(name="x")
v = kg.placeholder((2,), name="v")
n = kg.placeholder(dtype=np.int32, name="n")
single = kg.placeholder(dtype=np.float32, name="single")


@pytest.mark.parametrize(
    ("error", "gist", "build"),
    [
        (TypeError, "true_fn must be callable", lambda: kg.cond(x > 0, 3, lambda: x)),
        (TypeError, "false_fn must be callable", lambda: kg.cond(x > 0, lambda: x, x)),
        (TypeError, "true_fn argument required", lambda: kg.cond(x > 0)),
        (TypeError, "false_fn argument required", lambda: kg.cond(x > 0, lambda: x)),
        (
            TypeError,
            "pred must not be a Python bool",
            lambda: kg.cond(True, lambda: x, lambda: x),
        ),
        (
            TypeError,
            r"'?x'?: expected a bool scalar, got float64.*or use \.astype\(bool\) to cast",
            lambda: kg.cond(x, lambda: x, lambda: x),
        ),
        (
            TypeError,
            r"v > 0: expected a bool scalar, got bool of shape \(2,\).*use \.any\(\) or \.all\(\)",
            lambda: kg.cond(v > 0, lambda: x, lambda: x),
        ),
        (
            TypeError,
            r"Incompatible return types of true_fn and false_fn.*at \['b'\].*tuple of 2.*an array",
            lambda: kg.cond(x > 0, lambda: {"a": x, "b": (x, x)}, lambda: {"a": x, "b": x}),
        ),
        (
            kg.SymbolicError,
            rf"cond: what true_fn returns at \['a'\] \({HERE}\): .*the text 'text' cannot be part",
            lambda: kg.cond(x > 0, lambda: {"a": "text"}, lambda: {"a": x}),
        ),
        (
            TypeError,
            "Incompatible return types of true_fn and false_fn",
            lambda: kg.cond(x > 0, lambda: (x, x), lambda: (x, x, x)),
        ),
        (
            TypeError,
            r"Outputs of true_fn and false_fn must have the same type: int32, float64 at \.b",
            lambda: kg.cond(x > 0, lambda: Pair(x, n), lambda: Pair(x, x)),
        ),
        (
            ValueError,
            r"branch shapes differ: \(\).*vs \(2,\).*where",
            lambda: kg.cond(x > 0, lambda: x, lambda: v),
        ),
        (
            ValueError,
            "true_fn must have a return value",
            lambda: kg.cond(x > 0, lambda: None, lambda: x),
        ),
        (
            ValueError,
            "false_fn must return at least one result",
            lambda: kg.cond(x > 0, lambda: [x], list),
        ),
        (ValueError, "no branches", lambda: kg.switch(n, [])),
        (ValueError, "no branches", lambda: kg.case([])),
        (TypeError, "index x must be an integer", lambda: kg.switch(x, [lambda: x])),
        (TypeError, r"branches\[1\] must be callable", lambda: kg.switch(n, [lambda: x, x])),
        (TypeError, "pair 0 must be a tuple", lambda: kg.case([x > 0])),
        (
            TypeError,
            "what true_fn returns.*str|true_fn.*'?hello'?",
            lambda: kg.cond(x > 0, lambda: "hello", lambda: x),
        ),
    ],
)
def test_conditionals(error, gist, build):
    refused(error, gist, build=build)


def loop(cond=lambda i: i < 3, body=lambda i: i + 1, variables=(0,), *more, **options):
    return kg.while_loop(cond, body, variables, *more, **options)


@pytest.mark.parametrize(
    ("error", "gist", "build"),
    [
        (TypeError, "cond must be callable", lambda: kg.while_loop(3, lambda i: i, [0])),
        (TypeError, "body must be callable", lambda: kg.while_loop(lambda i: i, 3, [0])),
        (ValueError, "'loop_vars' must be provided", lambda: loop(variables=[])),
        (ValueError, "'loop_vars' must be provided", lambda: loop(variables=None)),
        (
            TypeError,
            "parallel_iterations must be a positive integer",
            lambda: loop(parallel_iterations=0),
        ),
        (
            TypeError,
            "parallel_iterations must be a positive integer",
            lambda: loop(parallel_iterations=2.5),
        ),
        (
            ValueError,
            r"maximum_iterations must be a scalar whole number.*shape \(2,\)",
            lambda: loop(maximum_iterations=np.array([1, 2])),
        ),
        (
            ValueError,
            "maximum_iterations must be a scalar whole number.*float64",
            lambda: loop(maximum_iterations=x),
        ),
        (
            ValueError,
            "maximum_iterations must not be negative",
            lambda: loop(maximum_iterations=-1),
        ),
        (ValueError, "grad is 'magic'.*'auto'", lambda: loop(grad="magic")),
        (ValueError, "on_limit is 'explode'", lambda: loop(on_limit="explode")),
        (
            # `i` is a Python number in the first trip and an array in all later trips.
            TypeError,
            "'y' enters the loop with type float32 but has type float64 after 1 iteration",
            lambda: kg.while_loop(
                lambda i, y: i < 9, lambda i, y: (i + v.sum().astype(int), y * i), (1, single)
            ),
        ),
        (
            TypeError,
            r"\"j\['k'\]\" does not have the same nested structure.*an array and body.*list of 2",
            lambda: kg.while_loop(
                lambda i, j: i < 3, lambda i, j: (i + 1, {"k": [j["k"], 1]}), (0, {"k": 1})
            ),
        ),
        (
            TypeError,
            "'p' does not have the same nested structure after one iteration.*Pair.*tuple of 2",
            lambda: kg.while_loop(
                lambda i, p: i < 3, lambda i, p: (i + 1, (p.a, p.b)), (0, Pair(1, 2))
            ),
        ),
        (
            ValueError,
            "Number of inputs and outputs of body must match loop_vars: 2, 1",
            lambda: kg.while_loop(lambda i, j: i < 3, lambda i, j: i + 1, (0, 1)),
        ),
        (
            ValueError,
            "Number of inputs and outputs of body must match loop_vars: 2, 3",
            lambda: kg.while_loop(lambda i, j: i < 3, lambda i, j: (i, j, j), (0, 1)),
        ),
        (
            TypeError,
            "Loop var 'count' enters the loop with type int32 but has type float64 after 1 iter",
            lambda: kg.while_loop(lambda count: count < 3, lambda count: count + 0.5, [n]),
        ),
        (
            TypeError,
            r"Loop var 'p\.b' enters the loop with type int32",
            lambda: kg.while_loop(lambda p: p.a < 3, lambda p: Pair(p.a, p.b * 0.5), [Pair(0, n)]),
        ),
        (
            ValueError,
            r"'u' enters the loop with shape \(2,\), but has shape \(4,\) after one iteration.*"
            r"shape_invariants",
            lambda: kg.while_loop(lambda u: u.sum() < 3, lambda u: np.concatenate([u, u]), [v]),
        ),
        (
            ValueError,
            r"'u' grows from shape \(2,\) to \(4,\).*buffer",
            lambda: kg.while_loop(
                lambda u: u.sum() < 3,
                lambda u: np.concatenate([u, u]),
                [v],
                shape_invariants=[None],
            ),
        ),
        (
            ValueError,
            r"shape invariant specified for 'u', \(3,\), is not compatible with the initial shape "
            r"\(2,\)",
            lambda: kg.while_loop(lambda u: u.sum() < 3, lambda u: u, [v], shape_invariants=[(3,)]),
        ),
        (TypeError, "cond must return a bool scalar, got int64", lambda: loop(cond=lambda i: i)),
        (
            TypeError,
            r"cond must return a bool scalar, got bool of shape \(2,\)",
            lambda: kg.while_loop(lambda u: u > 0, lambda u: u, [v]),
        ),
        (ValueError, "body must have a return value", lambda: loop(body=lambda i: None)),
        (TypeError, "loop variable 'i'", lambda: loop(variables=["text"])),
    ],
)
def test_loops(error, gist, build):
    refused(error, gist, build=build)


@pytest.mark.parametrize(
    ("error", "gist", "build"),
    [
        (
            ValueError,
            "lengths do not agree.*has 3.*has 2",
            lambda: kg.scan(lambda c, r: (c, r[0]), 0, (np.arange(3), v)),
        ),
        (ValueError, "has 2.*3|3.*has 2", lambda: kg.scan(lambda c, r: (c, r), 0, v, length=3)),
        (ValueError, "give xs or length", lambda: kg.scan(lambda c, r: (c, r), 0)),
        (TypeError, "f must be callable", lambda: kg.scan(3, 0, v)),
        (TypeError, r"must return a pair \(carry, y\)", lambda: kg.scan(lambda c, r: c, 0, v)),
        (
            ValueError,
            r"'c' enters the loop with shape \(\), but has shape \(2,\)",
            lambda: kg.scan(lambda c, r: (c + v, r), x, v),
        ),
        (
            TypeError,
            "Loop var 'c' enters the loop with type int32",
            lambda: kg.scan(lambda c, r: (c + r, r), n, v),
        ),
        (ValueError, "equally many rows.*u has none", lambda: kg.vmap(lambda u: u)(x)),
        (
            ValueError,
            "equally many rows.*a has 2, b has 3",
            lambda: kg.vmap(lambda a, b: a)(v, np.arange(3)),
        ),
        (TypeError, "f must be callable", lambda: kg.vmap(v)),
    ],
)
def test_scans_and_batches(error, gist, build):
    refused(error, gist, build=build)


def test_a_batch_has_no_order_of_assignments():
    s = kg.state(0.0, name="total")
    refused(
        ValueError,
        "assigns state 'total'.*no order",
        build=lambda: kg.vmap(lambda u: s.assign_add(u))(v),
    )


def test_a_value_of_a_branch_used_outside():
    made = []
    kg.cond(x > 0, lambda: made.append(x * 2) or made[0], lambda: x, name="pick")
    t = made[0]
    gist = r"'t' \(made at .*\) is defined inside a branch of cond 'pick' \(test_errors.py:\d+\)"
    refused(TypeError, gist, "cannot be used here; return it", build=lambda: t + 1)
    refused(TypeError, gist, build=lambda: kg.compile([x], t))
    refused(TypeError, gist, build=lambda: kg.gradients(x, [t]))
    refused(TypeError, gist, build=lambda: kg.cond(x > 0, lambda: t + 1, lambda: x))


def test_a_value_of_a_branch_used_in_the_other():
    made = []
    refused(
        TypeError,
        "is defined inside a branch of cond 'pick'",
        build=lambda: kg.cond(
            x > 0, lambda: made.append(x * 2) or made[0], lambda: made[0] + 1, name="pick"
        ),
    )


def test_a_value_of_a_loop_used_outside_or_fed():
    made = []
    kg.while_loop(lambda i: i < 3, lambda i: made.append(i + 1) or made[0], [x], name="climb")
    t = made[0]
    gist = r"'t' \(made at .*\) is in a while loop.*'climb' \(test_errors.py:\d+\)"
    refused(TypeError, gist, build=lambda: kg.compile([x], t))
    refused(TypeError, gist, build=lambda: kg.compile([t], x))
    refused(TypeError, gist, build=lambda: t * 2)
    refused(TypeError, gist, build=lambda: kg.cond(x > 0, lambda: t, lambda: x))
    refused(TypeError, gist, build=lambda: kg.while_loop(lambda i: i < 3, lambda i: i, [t]))


def test_a_value_of_one_loop_used_in_another():
    made = []
    kg.while_loop(lambda i: i < 3, lambda i: made.append(i + 1) or made[0], [x], name="first")
    a = made[0]
    message = refused(
        TypeError,
        "Cannot use 'a'.*as input to an operation on 'j'.*because they are in different while loop",
        "'first'",
        "'second'",
        build=lambda: kg.while_loop(lambda j: j < 3, lambda j: j + a, [x], name="second"),
    )
    assert len(re.findall(HERE, message)) == 4
    refused(
        TypeError,
        "Cannot use 'a'.*because they are in different while loops",
        build=lambda: kg.while_loop(
            lambda j: j < 3, lambda j: kg.cond(j > 1, lambda: a, lambda: j), [x]
        ),
    )


def test_a_stack_needs_a_bound():
    def growth(**options):
        return kg.while_loop(
            lambda y: y < 100, lambda y: y * 2, [x], grad="stack", name="climb", **options
        )[0]

    gist = "Cannot create a gradient accumulator for 'y'.*'climb'"
    why = "maximum_iterations was not passed to while_loop 'climb'"
    refused(ValueError, gist, why, build=lambda: kg.gradients(growth(), x))
    refused(ValueError, gist, why, build=lambda: kg.hessian(growth(), x))
    refused(
        ValueError,
        gist,
        why,
        build=lambda: kg.gradients(kg.cond(x > 0, growth, lambda: x), x),
    )
    refused(
        ValueError,
        gist,
        "statically known",
        build=lambda: kg.gradients(growth(maximum_iterations=n), x),
    )
    # Neither forward derivatives nor values need one.
    assert kg.compile([x], kg.jvp(growth(), x, 1.0))(1.0) == 128
    # A loop without stored values does not need one either.
    assert kg.compile([x], kg.gradients(x * 2, x))(1.0) == 2


def test_a_stack_inside_a_loop_needs_a_static_bound():
    def body(i, y):
        (z,) = kg.while_loop(
            lambda z: z < 10, lambda z: z * 2, [y], maximum_iterations=i + 3, grad="stack"
        )
        return i + 1, z

    refused(
        ValueError,
        "must be statically known|be defined at or outside the loop",
        build=lambda: kg.while_loop(lambda i, y: i < 3, body, (0, x)),
    )


@pytest.mark.parametrize(
    ("error", "gist", "build"),
    [
        (ValueError, r"v has shape \(2,\), expected a single number", lambda: kg.gradients(v, x)),
        (TypeError, "n is int32", lambda: kg.gradients(n, x)),
        (TypeError, "n is int32", lambda: kg.gradients(x, n)),
        (TypeError, "xs must be an array or a list", lambda: kg.gradients(x, [])),
        (TypeError, "cannot differentiate by a float", lambda: kg.gradients(x, [1.0])),
        (ValueError, "given twice", lambda: kg.hessian(x, [x, x])),
        (ValueError, r"tangent of v has shape \(3,\)", lambda: kg.jvp(v, v, np.ones(3))),
        (ValueError, "1 tangents for 2", lambda: kg.jvp(x, [x, v], [1.0])),
    ],
)
def test_derivatives(error, gist, build):
    refused(error, gist, build=build)


def test_a_derivative_inside_by_what_comes_also_through_outside():
    doubled = x * 2
    refused(
        TypeError,
        "depends on x also through doubled, which is computed outside",
        build=lambda: kg.cond(x > 0, lambda: kg.gradients(doubled * x, x), lambda: x),
    )


def test_states():
    s = kg.state(np.zeros(2), name="s")
    whole = kg.state(0, name="whole")
    refused(
        ValueError, r"state 's' .*: it has shape \(2,\).*\(3,\)", build=lambda: s.assign(np.ones(3))
    )
    refused(
        TypeError, "state 'whole' .*: it holds int64, x is float64", build=lambda: whole.assign(x)
    )
    refused(TypeError, "must be numbers, not an array of the graph", build=lambda: kg.state(x))
    refused(TypeError, "expected numbers", build=lambda: kg.state("text"))


def test_the_state_of_a_function_is_set_to_what_fits():
    s = kg.state(np.zeros(2), name="s")
    other = kg.state(0.0, name="other")
    f = kg.compile([], s + 1)
    with pytest.raises(ValueError, match=r"'s' has shape \(2,\), got \(3,\)"):
        f.state[s] = np.ones(3)
    with pytest.raises(KeyError, match="'other' is not used"):
        f.state[other]
