"""Loops that make keys of dictionaries and attributes of objects."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.autograph.refusals import refused

import kinetograph as kg


class Holder:
    """An object with what a loop gives it."""


def compare(function, *calls):
    """A staged function against Python."""
    staged = kg.function(function)
    for arguments in calls:
        found, expected = staged(*arguments), function(*arguments)
        assert jax.tree.structure(found) == jax.tree.structure(expected)
        assert np.allclose(jax.tree.leaves(found), jax.tree.leaves(expected), rtol=1e-14)


def test_a_while_loop_makes_keys():
    def f(n, x):
        d, s, i = {"s": 1.0}, 0.0, 0
        while i < n:
            d["last"] = x * i
            d["s"] = d["s"] + d.get("count", 0)
            d["count"] = d.get("count", 0) + 1 if "count" in d else 1
            s = s + len(d)
            i = i + 1
        return d, s, d["last"]

    compare(f, (1, 2.0), (2, 2.0), (5, -1.5))


def test_a_loop_over_rows_makes_keys_of_inner_dictionaries():
    def f(x):
        tables = {"inner": {}, "list": [1.0, {}]}
        for i, row in enumerate(x):
            tables["inner"].setdefault("first", row[0])
            tables["inner"]["sum"] = tables["inner"].get("sum", 0.0) + row.sum()
            tables["list"][1]["place"] = i
        return tables

    compare(f, (np.arange(6.0).reshape(3, 2),), (np.ones((1, 2)),))


def test_keys_and_break():
    def f(x):
        d, trips = {}, 0
        for row in x:
            d["last"] = row
            trips += 1
            if row > 1.5:
                break
        return d, trips

    compare(f, (np.array([1.0, 2.0, 3.0]),), (np.array([5.0, 1.0, 1.0]),), (np.array([1.0]),))


def test_keys_made_in_a_loop_in_a_loop():
    def f(n, m):
        d, i = {}, 0
        while i < n:
            j = 0
            while j < m:
                d["pair"] = (i, j)
                j += 1
            i += 1
        return d

    compare(f, (1, 1), (2, 3))


def test_maximum_iterations_count_the_first_trip():
    @kg.function
    def f(n):
        d, i = {}, 0
        while i < n:
            kg.autograph.set_loop_options(maximum_iterations=2)
            i += 1
            d["i"] = i
        for j in kg.range(n):
            kg.autograph.set_loop_options(maximum_iterations=3)
            d["j"] = j
        return d

    assert [{k: int(v) for k, v in f(n).items()} for n in (1, 2, 9)] == [
        {"i": 1, "j": 0},
        {"i": 2, "j": 1},
        {"i": 2, "j": 2},
    ]


def test_a_loop_that_made_no_trip_is_an_error():
    def f(n):
        d, i = {}, 0
        while i < n:  # here
            d["k"] = i
            i += 1
        return d

    gist = r"the loop must iterate at least once to create d\['k'\]"
    refused(UnboundLocalError, f, (0,), gist)

    def g(n):
        d = {}
        for i in kg.range(n):  # here
            d["k"] = i
        return d

    refused(UnboundLocalError, g, (0,), gist)
    assert int(kg.function(g)(4)["k"]) == 3


def test_where_nothing_can_be_raised_what_the_trip_would_have_made_is_nan():
    @kg.function
    def f(x):
        d, s = {}, 0.0
        while x < 3:
            d["k"] = x
            s = s + 1
            x = x * 2
        return d["k"], s

    def embedded(x):
        return f(x)

    with jax.enable_x64(True):
        assert [float(r) for r in jax.jit(embedded)(jnp.asarray(1.0))] == [2.0, 2.0]
        assert np.isnan(jax.jit(embedded)(jnp.asarray(5.0))[0])
    mu = kg.normal(0.0, 1.0, name="mu")

    def from_mu(x):
        d, s = {}, 0.0
        while x < 3:
            d["k"] = x
            s = s + 1
            x = x + 2
        return d, s

    made, trips = kg.autograph.convert(from_mu)(mu)
    kg.factor(kg.where(mu > 4, trips, made["k"]))
    model = kg.model(mu)
    constant = -0.5 * np.log(2 * np.pi)
    assert np.isclose(model.log_prob([1.5]), constant - 0.5 * 1.5**2 + 1.5, rtol=1e-12)
    assert np.isclose(model.log_prob([4.5]), constant - 0.5 * 4.5**2 + 0, rtol=1e-12)
    assert np.isnan(model.log_prob([3.5]))


def test_gradients_go_through_the_first_trip():
    @kg.function
    def f(n, x):
        d, i = {}, 0
        while i < n:
            d["power"] = d.get("power", 1.0) * x
            i += 1
        return d["power"], kg.gradients(d["power"], x)

    for n in (1, 3, 70):
        assert np.allclose(f(n, 1.1), (1.1**n, n * 1.1 ** (n - 1)), rtol=1e-12)


def test_a_while_loop_makes_attributes():
    def f(n):
        holder, i = Holder(), 0
        while i < n:
            holder.last = i * 2.0
            holder.table = {"i": i}
            i = i + 1
        return holder.last, holder.table["i"]

    compare(f, (1,), (4,))
    refused(UnboundLocalError, f, (0,), "must iterate at least once to create holder.last", at="")


def test_keys_that_only_some_trips_make_are_refused():
    def f(x):
        d = {}
        for row in x:
            if row > 0:  # here
                d["k"] = row
        return d

    refused(TypeError, f, (np.ones(2),), "create all its keys before, or in both branches")


def test_symbolic_keys_are_refused():
    def f(n):
        d = {}
        for i in kg.range(n):
            d[i] = 1.0  # here
        return d

    refused(kg.SymbolicError, f, (3,), "symbolic key 'i'")


def test_keys_that_every_trip_makes_anew_are_refused():
    def f(n):
        d, i = {}, 0
        while i < n:  # here
            d[f"k{len(d)}"] = i
            i += 1
        return d

    refused(TypeError, f, (3,), "'d' does not have the same nested structure", "all its keys")


def test_an_iterator_goes_on_after_the_element_that_was_taken_last():
    def f(x):
        d, left = {}, iter(kg.Dataset.range(7))
        for i in left:
            d["i"] = i
            if i >= x:
                break
        for j in left:
            d["j"] = j
            if j > 3:
                break
        return d["i"], d["j"], next(left, -1)

    compare(f, (0,), (2,), (3,))


@pytest.mark.parametrize("bound", [0, 1])
def test_a_bound_that_leaves_no_trip(bound):
    @kg.function
    def f(n):
        d, i = {}, 0
        while i < n:
            kg.autograph.set_loop_options(maximum_iterations=bound)
            d["i"] = i
            i += 1
        return d["i"]

    if bound:
        assert int(f(3)) == 0
    else:
        with pytest.raises(UnboundLocalError, match="at least once"):
            f(3)
