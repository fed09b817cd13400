"""The cost of building a graph, and the freeing of unused nodes."""

import gc
import tracemalloc
import weakref

import jax
import numpy as np
import pytest

import kinetograph as kg
from kinetograph.graph.control.control_node import everything
from kinetograph.graph.node import Apply, ancestors

MANY = 100_000
SOME = 10_000


def chain(n, x):
    y = x
    for _ in range(n):
        y = y + x
    return y


def test_building_neither_traces_nor_compiles(monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("JAX was called while the graph was built")

    x, m = kg.placeholder((3,)), kg.placeholder((3, 3))
    for name in ("jit", "eval_shape", "make_jaxpr"):
        monkeypatch.setattr(jax, name, refuse)
    events = []
    jax.monitoring.register_event_duration_secs_listener(lambda name, *_, **__: events.append(name))
    try:
        y = chain(1000, x)
        for f in (
            np.exp,
            np.sum,
            lambda v: v[::-1],
            lambda v: v[np.array([0, 1])],
            lambda v: m @ v,
        ):
            f(y)
        np.linalg.cholesky(m)
        kg.where(y > 0, y, 2.0).at[0].set(1.0)
        np.stack([y, x]).T.reshape(-1)
    finally:
        jax.monitoring.clear_event_listeners()
    assert events == []


def test_a_node_is_small():
    x = kg.placeholder((3,))
    gc.collect()
    tracemalloc.start()
    y = chain(SOME, x)
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert used / SOME < 1000
    assert y.shape == (3,)


def test_long_chains_and_wide_fans():
    x = kg.placeholder()
    y = chain(MANY, x)
    order = ancestors([y.node])
    assert len(order) == MANY + 1
    place = {node: i for i, node in enumerate(order)}
    assert all(place[p] < place[n] for n in order for p in n.parents)
    top = weakref.ref(y.node.parents[0])
    del order, place, y
    gc.collect()
    assert top() is None  # without a stack overflow
    fan = [x + 1.0 for _ in range(SOME)]
    total = kg.stack(fan).sum()
    assert len(ancestors([total.node])) == 2 * SOME + 3
    assert sum(1 for _ in x.node.children) == SOME
    del fan, total
    gc.collect()
    assert sum(1 for _ in x.node.children) == 0


def test_ancestors_stop_where_told():
    x = kg.placeholder()
    y = x * 2
    z = y + y * 3
    assert x.node not in ancestors([z.node], stop=lambda node: node is y.node)
    assert ancestors([z.node, y.node]).count(y.node) == 1


def test_dropping_handles_frees_nodes():
    x = kg.placeholder()
    y = kg.exp(x) * 2
    inner = weakref.ref(y.node.parents[0])
    assert [child.operation.name for child in x.node.children] == ["exp"]
    del y
    assert inner() is None  # at once, without the cycle collector
    assert list(x.node.children) == []


def test_children_do_not_grow():
    x = kg.placeholder()
    for _ in range(5000):
        x + 1.0
    assert len(x.node._children) <= 17
    alive = [x + 1.0 for _ in range(100)]
    for _ in range(5000):
        x + 1.0
    assert len(x.node._children) <= 2 * (len(alive) + 17)
    assert sum(1 for _ in x.node.children) == len(alive)


def test_parents_children_and_kinds():
    x = kg.placeholder(name="x")
    y = x * 3
    assert [p.kind for p in y.node.parents] == ["placeholder", "data"]
    assert isinstance(y.node, Apply)
    assert (x + x).node.parents == (x.node, x.node)
    assert y.node.serial > x.node.serial


def test_a_node_knows_its_line():
    x = kg.placeholder()
    y = (x
         + 1)  # fmt: skip
    first = test_a_node_knows_its_line.__code__.co_firstlineno
    assert (x.node.site.filename, x.node.site.line) == (__file__, first + 1)
    assert y.node.site.line == first + 2
    assert str(x.node.site) == f"test_node.py:{first + 1}"
    assert np.exp(x).node.site.line == first + 8
    made = eval("x + 1")
    assert made.node.site.line == 1


def test_repr():
    x = kg.placeholder((2,), name="x")
    assert repr(x) == "<placeholder 'x', shape (2,), float64>"
    assert repr(kg.exp(x) + 1) == "<operation exp(x) + 1, shape (2,), float64>"
    assert repr(kg.data([1, 2], name="d")) == "<data 'd', shape (2,), int64>\n[1 2]"
    assert repr((x + 1).sum().node) == "<sum () float64>"


def test_data_are_copies_that_nobody_changes():
    values = np.array([1.0, 2.0])
    d = kg.data(values)
    values[0] = 9
    assert d.node.value.tolist() == [1, 2]
    with pytest.raises(ValueError, match="read-only"):
        d.node.value[0] = 3


def test_data_from_pandas_and_xarray():
    pd, xr = pytest.importorskip("pandas"), pytest.importorskip("xarray")
    frame = pd.DataFrame(
        [[1.0, 2.0]], index=pd.Index(["a"], name="row"), columns=pd.Index(["u", "v"], name="column")
    )
    d = kg.data(frame)
    assert (d.dims, d.node.coords["column"].tolist()) == (("row", "column"), ["u", "v"])
    e = kg.data(xr.DataArray([1, 2], dims="t", coords={"t": [10, 20]}), dims="time")
    assert (e.dims, e.node.coords["time"].tolist()) == (("time",), [10, 20])
    assert kg.data(pd.Series([1, 2])).dims is None
    x = kg.placeholder((2,))
    for found in (pd.Series([1.0, 2.0]) * x, x * pd.Series([1.0, 2.0])):
        assert isinstance(found, kg.Array)
        assert found.shape == (2,)


def test_parents_come_before_children_also_inside_of_loops():
    x, w = kg.placeholder(name="x"), kg.placeholder(name="w")
    (y,) = kg.while_loop(
        lambda v: v < 9, lambda v: kg.cond(v > w, lambda: v * w, lambda: v + w), [x]
    )
    nodes = list(everything(ancestors([y.node])))
    assert len(nodes) > 10
    assert all(p.serial < n.serial for n in nodes for p in n.parents)
