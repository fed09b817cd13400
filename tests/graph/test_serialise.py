"""Graphs in files: values, derivatives and contexts survive."""

import math

import jax
import numpy as np
import pytest

import kinetograph as kg


def nested():
    x = kg.placeholder(name="x")
    w = kg.data(1.5, name="w")

    def body(i, v):
        inner = lambda: kg.while_loop(lambda z: z < 1, lambda z: z * 1.3 + w * 0.1, [v])[0]
        return i + 1, kg.cond(v > 2, lambda: v / w, lambda: 2 * inner() + 1)

    _, y = kg.while_loop(lambda i, v: i < 6, body, [0, x], name="outer")
    last, rows = kg.scan(lambda s, v: (s * v + y, s), 1.0, np.array([1.0, 2.0, 3.0]))
    return {"x": x, "y": y, "last": last, "rows": rows}


def results(graph):
    x, y = graph["x"], graph["y"]
    f = kg.compile([x], [y, kg.gradients(y, x), kg.hessian(y, x), graph["last"], graph["rows"]])
    return f(0.3)


def test_values_and_derivatives_survive(tmp_path):
    graph = nested()
    kg.save_graph(tmp_path / "graph.kg", graph)
    again = kg.load_graph(tmp_path / "graph.kg")
    assert list(again) == list(graph)
    for mine, loaded in zip(results(graph), results(again), strict=True):
        np.testing.assert_array_equal(mine, loaded)


def test_contexts_survive(tmp_path):
    graph = nested()
    kg.save_graph(tmp_path / "graph.kg", graph)
    contexts = [g["y"].loop.context for g in (graph, kg.load_graph(tmp_path / "graph.kg"))]
    mine, loaded = contexts
    assert mine is not loaded
    assert loaded.name == "outer"
    assert loaded.site == mine.site
    assert len(loaded.values) == len(mine.values)
    assert [n.name for n in loaded.external_values] == [n.name for n in mine.external_values]
    assert [c.name for c in loaded.nested_contexts] == [c.name for c in mine.nested_contexts]
    assert all(c.outer_context is loaded for c in loaded.nested_contexts)
    with pytest.raises(AttributeError, match="cannot be changed"):
        loaded.name = "other"


def test_states_and_models_survive(tmp_path):
    s = kg.state(1.0, name="s")
    added = s.assign_add(2.0)
    mu = kg.normal(0, 1, name="mu")
    y = kg.data([0.5, 1.5], name="y")
    kg.observe(y, kg.normal(mu, 1))
    kg.save_graph(tmp_path / "graph.kg", [s, added, mu, y])
    state, total, unknown, data = kg.load_graph(tmp_path / "graph.kg")
    f = kg.compile([], total)
    assert (f(), f(), f.state[state]) == (3.0, 5.0, 5.0)
    assert unknown.name == "mu"
    np.testing.assert_array_equal(data, [0.5, 1.5])
    point = np.array([[0.3], [-1.0]])
    np.testing.assert_array_equal(kg.model(unknown).log_prob(point), kg.model(mu).log_prob(point))


def test_a_deep_graph(tmp_path):
    x = y = kg.placeholder(name="x")
    for _ in range(5000):
        y = y + 1
    kg.save_graph(tmp_path / "graph.kg", (x, y))
    a, b = kg.load_graph(tmp_path / "graph.kg")
    assert kg.debug(b, {a: 0.5}).values[0] == 5000.5


def test_lifted_functions_are_written_by_name(tmp_path):
    x = kg.placeholder(name="x")
    kg.save_graph(tmp_path / "graph.kg", [x, kg.lift(jax.lax.erf)(x)])
    a, b = kg.load_graph(tmp_path / "graph.kg")
    assert kg.compile([a], b)(0.5) == pytest.approx(math.erf(0.5), rel=1e-14)


def test_what_cannot_be_written_leaves_no_file(tmp_path):
    x = kg.placeholder(name="x")
    with pytest.raises(kg.KinetographError, match=r"given to kg.lift must be importable"):
        kg.save_graph(tmp_path / "graph.kg", kg.lift(lambda v: v + 1)(x))
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(TypeError, match="expected arrays, got int"):
        kg.save_graph(tmp_path / "graph.kg", [x, 3])


@pytest.mark.parametrize("content", [b"", b"not a graph", None])
def test_other_files_are_refused(tmp_path, content):
    path = tmp_path / "graph.kg"
    if content is None:
        kg.save_graph(path, nested())
        content = path.read_bytes()[:-100]
    path.write_bytes(content)
    with pytest.raises(kg.KinetographError, match="is no graph saved by"):
        kg.load_graph(path)
