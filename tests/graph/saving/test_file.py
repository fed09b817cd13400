"""Saved graphs: values, derivatives and contexts, and hostile files."""

import hashlib
import json
import math
import os
import pickle
import stat
from collections import Counter

import jax
import numpy as np
import optax
import pandas as pd
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


@pytest.mark.parametrize("name", ["no folder/graph.kg", ""])
def test_an_error_of_the_disk_names_the_file_of_the_user(tmp_path, name):
    with pytest.raises(OSError) as raised:
        kg.save_graph(tmp_path / name, kg.data([1.0]))
    assert raised.value.filename == (str(tmp_path / name) if name else None)
    assert str(tmp_path / name.partition("/")[0]) in str(raised.value)
    assert ".kg." not in str(raised.value)
    assert not list(tmp_path.parent.glob(f".{tmp_path.name}.*"))


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


def statements():
    """A model with likelihoods and factors on unknowns besides its target."""
    mu, tau = kg.normal(0, 1, name="mu"), kg.half_normal(1, name="tau")
    theta = kg.normal(mu, tau, shape=3, name="theta")
    kg.observe([1.0, 2.0], kg.normal(mu, 1.0))
    kg.observe(np.array([0.3, -1.0, 2.0]), kg.normal(theta, 0.5), name="y")
    kg.factor(-kg.exp(theta).sum())
    kg.observe(np.array([1, 0, 1]), kg.bernoulli(kg.ilogit(theta)))
    return mu


def test_what_is_observed_of_an_unknown_survives(tmp_path):
    mu = statements()
    kg.save_graph(tmp_path / "graph.kg", mu)
    before, after = kg.model(mu), kg.model(kg.load_graph(tmp_path / "graph.kg"))
    assert before.free_size == after.free_size == 5
    point = np.linspace(-0.5, 0.9, 5)
    assert after.log_prob(point) == pytest.approx(before.log_prob(point), rel=1e-12)
    np.testing.assert_allclose(after.gradient(point), before.gradient(point), rtol=1e-12)


def test_a_loaded_unknown_can_be_observed_further(tmp_path):
    mu = kg.normal(0, 1, name="mu")
    kg.observe([1.0, 2.0], kg.normal(mu, 1.0))
    kg.save_graph(tmp_path / "graph.kg", mu)
    loaded = kg.load_graph(tmp_path / "graph.kg")
    kg.observe(3.0, kg.normal(loaded, 1.0))
    # Three observations and the prior: N(0.5; 0, 1) N(1; 0.5, 1) N(2; 0.5, 1) N(3; 0.5, 1)
    expected = -4 * 0.5 * math.log(2 * math.pi) - 0.5 * (0.25 + 0.25 + 2.25 + 6.25)
    assert float(kg.model(loaded).log_prob([0.5])) == pytest.approx(expected, rel=1e-12)
    assert float(kg.model(mu).log_prob([0.5])) > expected + 3


def test_a_deep_graph(tmp_path):
    x = y = kg.placeholder(name="x")
    for _ in range(2000):
        y = y + 1
    kg.save_graph(tmp_path / "graph.kg", (x, y))
    a, b = kg.load_graph(tmp_path / "graph.kg")
    assert kg.debug(b, {a: 0.5}).values[0] == 2000.5


def test_all_kinds_of_nodes_survive(tmp_path):
    x = kg.placeholder((3,), name="x")
    streams = kg.RandomStreams(5)
    noise = streams.normal(0.0, 1.0, shape=3, name="noise")
    rows = kg.vmap(lambda v: kg.while_loop(lambda z: z < 2, lambda z: z * 1.5 + 0.1, [v])[0])(x)
    chosen = kg.switch(kg.argmax(x), [lambda: x[0], lambda: x[1] * 2, lambda: kg.log(x[2])])
    kg.check(x > 0, "x must be positive")
    z = kg.where(x[::-1] > 1, x.at[1].set(4.0), x[:, None][..., 0]) + np.float32(2)
    outputs = [noise * 2, rows, chosen, z, kg.jvp(chosen, x, x), streams.choice(4, shape=2)]
    f = kg.compile([x], outputs)
    kg.save_graph(tmp_path / "graph.kg", (x, outputs))
    y, loaded = kg.load_graph(tmp_path / "graph.kg")
    g = kg.compile([y], loaded)
    for _ in range(2):
        for mine, theirs in zip(f([0.5, 1.5, 1.0]), g([0.5, 1.5, 1.0]), strict=True):
            np.testing.assert_array_equal(mine, theirs)


@kg.function
def halved(x):
    while x > 1:
        x = x / 2
    assert x > 0, "must be positive"
    return x


def test_checks_and_prints_survive(tmp_path, capsys):
    x = kg.placeholder(name="x")
    y = kg.cond(x > 5, lambda: (kg.print("large:", {"x": x}), halved(x))[1], lambda: halved(x))
    kg.save_graph(tmp_path / "graph.kg", [x, y])
    a, b = kg.load_graph(tmp_path / "graph.kg")
    f = kg.compile([a], b)
    assert f(12.0) == 0.75
    assert capsys.readouterr().out == "large: {'x': 12.0}\n"
    with pytest.raises(AssertionError, match="must be positive"):
        f(-1.0)


def test_checks_that_conversion_makes_need_no_trust(tmp_path):
    @kg.function
    def last(x):
        d = {}
        while x < 3:
            d["k"] = x
            x = x * 2
        return d["k"]

    x = kg.placeholder(name="x")
    y = kg.cond(x > 0, lambda: last(x), lambda: x)  # checks in branches belong to the array
    kg.save_graph(tmp_path / "graph.kg", [x, y])
    a, b = kg.load_graph(tmp_path / "graph.kg")
    f = kg.compile([a], b)
    assert f(1.0) == 2.0
    with pytest.raises(UnboundLocalError, match=r"iterate at least once to create d\['k'\]"):
        f(5.0)


def test_lifted_functions_are_imported_only_if_trusted(tmp_path):
    path = tmp_path / "graph.kg"
    x = kg.placeholder(name="x")
    kg.save_graph(path, [x, kg.lift(jax.lax.erf)(x), kg.lift(jax.nn.relu)(x)])
    with pytest.raises(kg.KinetographError, match=r"calls jax.lax.erf, jax.nn.relu .*; .*trust="):
        kg.load_graph(path)
    with pytest.raises(kg.KinetographError, match=r"jax.nn.relu .*; .* trust=\['jax.nn.relu'\]"):
        kg.load_graph(path, trust=["jax.lax.erf"])
    a, b, c = kg.load_graph(path, trust=["jax.lax.erf", "jax.nn.relu"])
    assert kg.compile([a], b)(0.5) == pytest.approx(math.erf(0.5), rel=1e-12)
    assert kg.compile([a], c)(-0.5) == 0
    with pytest.raises(TypeError, match="trust must be a list"):
        kg.load_graph(path, trust="jax.lax.erf")


def test_a_lifted_function_of_structures_is_saved(tmp_path):
    path = tmp_path / "graph.kg"
    x = kg.placeholder(name="x")
    moved = kg.lift(optax.apply_updates)({"w": x, "b": {"c": 1.0}}, {"w": 2.0, "b": {"c": x}})
    kg.save_graph(path, [x, moved["w"], moved["b"]["c"]])
    with pytest.raises(kg.KinetographError, match=r"trust=\['optax.apply_updates'\]"):
        kg.load_graph(path)
    a, *results = kg.load_graph(path, trust=["optax.apply_updates"])
    assert kg.compile([a], results)(3.0) == [5.0, 4.0]


def test_a_solved_equation_survives_without_trust(tmp_path):
    path = tmp_path / "graph.kg"
    k = kg.placeholder(name="k")
    kg.save_graph(path, kg.ode.solve(lambda t, y: -k * y, 1.0, [0.0, 1.0], max_steps=50))
    y = kg.load_graph(path)
    assert y.shape == (2,)
    assert "unreached" in str(y)


def test_a_module_that_is_missing_is_named(tmp_path):
    path = tmp_path / "graph.kg"
    x = kg.placeholder(name="x")
    kg.save_graph(path, [x, kg.lift(jax.lax.erf)(x)])
    rewrite(path, lambda text: text.replace("jax.lax.erf", "nowhere.growth"))
    with pytest.raises(kg.KinetographError, match=r"nowhere.growth, which cannot be imported"):
        kg.load_graph(path, trust=["nowhere.growth"])


def test_what_cannot_be_written_leaves_no_file(tmp_path):
    x = kg.placeholder(name="x")
    with pytest.raises(kg.KinetographError, match=r"given to kg.lift must be importable"):
        kg.save_graph(tmp_path / "graph.kg", kg.lift(lambda v: v + 1)(x))
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(TypeError, match=r"expected arrays .*, got the number 3 at arrays\[1\]"):
        kg.save_graph(tmp_path / "graph.kg", [x, 3])


def test_a_full_disk_leaves_what_was_there(tmp_path, monkeypatch):
    path = tmp_path / "graph.kg"
    kg.save_graph(path, kg.placeholder(name="x"))
    before = path.read_bytes()

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        kg.save_graph(path, kg.placeholder(name="y"))
    assert [p.name for p in tmp_path.iterdir()] == ["graph.kg"]
    assert path.read_bytes() == before


def test_files_have_the_rights_that_files_have(tmp_path):
    kg.save_graph(tmp_path / "graph.kg", kg.placeholder(name="x"))
    (tmp_path / "other").write_bytes(b"")
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("graph.kg", "other")]
    assert modes[0] == modes[1]


class Hostile:
    def __reduce__(self):
        return os.mkdir, ("harm",)


@pytest.mark.parametrize("content", [b"", b"not a graph", pickle.dumps(Hostile())])
def test_other_files_are_refused(tmp_path, monkeypatch, content):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "graph.kg"
    path.write_bytes(content)
    with pytest.raises(kg.KinetographError, match=r"is not a graph saved by kg.save_graph"):
        kg.load_graph(path)
    assert not (tmp_path / "harm").exists()


def test_every_damage_is_found(tmp_path):
    path = tmp_path / "graph.kg"
    kg.save_graph(path, nested())
    content = path.read_bytes()
    random = np.random.default_rng(0)
    early = range(250)  # the header
    for place in [*early[::2], *random.integers(len(content), size=150)]:
        damaged = bytearray(content)
        damaged[place] ^= 1 << random.integers(8)
        path.write_bytes(damaged)
        with pytest.raises(kg.KinetographError, match=r"is damaged|is not a graph|has format"):
            kg.load_graph(path)
    for length in (*range(0, 250, 7), *random.integers(len(content), size=50)):
        path.write_bytes(content[:length])
        with pytest.raises(kg.KinetographError):
            kg.load_graph(path)


def test_another_format_says_who_wrote_it(tmp_path):
    path = tmp_path / "graph.kg"
    write(path, b'{"format": 9, "kinetograph": "7.0"}\n')
    with pytest.raises(
        kg.KinetographError, match=r"has format 9, written by kinetograph 7.0 .*; this"
    ):
        kg.load_graph(path)


def rewrite(path, change):
    """Change the text of a graph, with the right checksum."""
    _, _, head, text, arrays = path.read_bytes().split(b"\n", 4)
    write(path, b"\n".join([head, change(text.decode()).encode(), arrays]))


def write(path, rest):
    """A file with the right checksum."""
    checksum = hashlib.sha256(rest).hexdigest().encode()
    path.write_bytes(b"\n".join([b"kinetograph graph", checksum, rest]))


HOSTILE = [
    ["own", "os", "system"],
    ["own", "builtins", "eval"],
    ["own", "kinetograph.graph.saving.file", "save_graph"],
    ["own", "kinetograph.graph.saving.file", "os"],
    ["function", 0],
    ["partial", ["own", "builtins", "exec"], ["tuple", "1"], ["dict"]],
    ["named", "Popen", "ls"],
    ["@", -1],
    ["@", 10**9],
    ["array", -1],
    ["unheard", 1],
    [],
    {},
]


@pytest.mark.parametrize("value", HOSTILE, ids=str)
def test_a_text_made_by_hand_names_only_what_graphs_hold(tmp_path, value):
    path = tmp_path / "graph.kg"
    kg.save_graph(path, [kg.placeholder(name="x")])

    def change(text):
        content = json.loads(text)
        content["root"] = value
        return json.dumps(content)

    rewrite(path, change)
    with pytest.raises(kg.KinetographError, match=r"is not a graph|not a graph:"):
        kg.load_graph(path)


@pytest.mark.parametrize("kind", ["os:system", "graph.array:Array", "builtins:object", "nothing"])
def test_only_objects_of_graphs_are_made(tmp_path, kind):
    path = tmp_path / "graph.kg"
    kg.save_graph(path, [kg.placeholder(name="x")])
    rewrite(path, lambda text: text.replace("graph.node:Placeholder", kind))
    with pytest.raises(kg.KinetographError, match="not a graph"):
        kg.load_graph(path)


def test_texts_changed_at_random_are_graphs_or_refused(tmp_path):
    path = tmp_path / "graph.kg"
    kg.save_graph(path, nested())
    content = path.read_bytes()
    random = np.random.default_rng(1)

    def change(text):
        content = json.loads(text)
        mutate(content[["root", "rows", "rows", "rows"][random.integers(4)]], random)
        return json.dumps(content)

    refused = 0
    for _ in range(150):
        path.write_bytes(content)
        rewrite(path, change)
        try:
            kg.load_graph(path)
        except kg.KinetographError:
            refused += 1
    assert refused > 30  # the other changes concern a name, a line or a number


def mutate(value, random):
    """Change one part of nested lists and dictionaries."""
    others = [None, 0, -1, 1e300, "x", [], ["@", 0], ["tuple"], ["array", 0], ["dtype", "<f4"]]
    while True:
        keys = list(value) if isinstance(value, dict) else range(len(value))
        key = keys[random.integers(len(keys))]
        inner = value[key]
        if not isinstance(inner, (list, dict)) or not inner or random.random() < 0.1:
            value[key] = others[random.integers(len(others))]
            return
        value = inner


def test_names_survive(tmp_path):
    def written():
        a = kg.normal(0, 1)
        slope = kg.normal(a, 1)
        fixed = kg.normal(0, 1, name="own")
        total = slope + fixed
        kg.save_graph(tmp_path / "model.kg", {"intercept": a, "total": total, "other": fixed})

    written()
    graph = kg.load_graph(tmp_path / "model.kg")
    model = kg.model(graph["intercept"], graph["total"], graph["other"])
    # The names come from the dictionary, the variable and `name=`, in this order. Results have the
    # dictionary's name.
    names = sorted(unknown.name for unknown in model.component.unknowns)
    assert names == ["intercept", "own", "slope"]
    assert "total" in repr(model)


def test_a_name_is_not_given_twice(tmp_path):
    def written():
        b = kg.normal(0, 1)
        c = kg.normal(b, 1)
        kg.save_graph(tmp_path / "model.kg", {"b": c})

    written()
    again = kg.load_graph(tmp_path / "model.kg")["b"]
    assert "b" in repr(kg.model(again))


def kinds(path):
    """The numbers of objects of each class in a file."""
    _, _, _, text, _ = path.read_bytes().split(b"\n", 4)
    return Counter(kind.split(":")[1] for kind, _ in json.loads(text)["rows"])


def test_only_checks_and_states_of_the_arrays_are_written(tmp_path):
    path = tmp_path / "graph.kg"
    other = kg.placeholder(name="other")
    kg.check(other > 0, "another array")
    unrelated = kg.state(7.0, name="unrelated")
    kept = unrelated.assign_add(other)
    s = kg.state(1.0, name="s")
    added = s.assign_add(2.0)
    mu = kg.normal(0, 1, name="mu")
    for arrays, cells in (([s, added], 1), ([mu], 0), ([added, mu], 1)):
        kg.save_graph(path, arrays)
        written = kinds(path)
        assert written["Check"] == written["Placeholder"] == 0
        assert written["Cell"] == cells
    kg.save_graph(path, [other, kept])
    assert kinds(path)["Check"] == 1


@pytest.mark.parametrize("stateful", [False, True])
def test_checks_of_the_arrays_are_carried_out(tmp_path, stateful):
    """Test that checks outside branches run in order.

    A check that needs another input is left out.
    """
    path = tmp_path / "graph.kg"
    x, other = kg.placeholder(name="x"), kg.placeholder(name="other")
    kg.check(x > 0, "x must be positive")
    kg.check(x > other, "x must be larger")
    kg.check(x < 5, "x must be small")
    total = kg.state(0.0, name="total")
    y = total.assign_add(x) if stateful else 2 * x
    kg.save_graph(path, [x, y])
    assert kinds(path)["Check"] == 2
    kg.compile([other], other)  # starts another program
    a, b = kg.load_graph(path)
    f = kg.compile([a], b)
    with pytest.raises(kg.CheckError, match="must be positive"):
        f(-1.0)
    with pytest.raises(kg.CheckError, match="must be small"):
        f(6.0)
    assert f(1.0) == (1.0 if stateful else 2.0)


@pytest.mark.parametrize("index", [None, list("abc"), pd.date_range("2020-01-01", periods=3)])
def test_columns_of_pandas_objects_are_written_without_their_index(tmp_path, index):
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0], "group": list("aba")}, index=index)
    total = (kg.data(frame["x"], name="x") * kg.groups(frame["group"]).codes).sum()
    kg.save_graph(tmp_path / "graph.kg", {"total": total})
    found = kg.load_graph(tmp_path / "graph.kg")["total"]
    assert kg.compile([], found)() == 2.0


def test_a_data_frame_is_saved_without_its_index(tmp_path):
    """An index of pandas is an object of no class that a file may have."""
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]}, index=["p", "q"])
    kg.save_graph(tmp_path / "graph", {"total": kg.data(frame).sum() * kg.normal(0, 1)})
    loaded = kg.load_graph(tmp_path / "graph")
    assert set(loaded) == {"total"}
