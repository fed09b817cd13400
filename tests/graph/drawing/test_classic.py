"""The classic dataflow form of branches and loops: counts, wiring, nesting, names."""

import gc
import re
import weakref
from collections import namedtuple

import kinetograph as kg
from kinetograph.graph.messages import describe

Pair = namedtuple("Pair", "j k")


def pairs(n):
    return kg.while_loop(
        lambda i, p: i < n,
        lambda i, p: (i + 1, Pair(p.j + p.k, p.j - p.k)),
        (0, Pair(1, 2)),
        name="pairs",
    )


def contexts(array):
    return array.node.parents[0].contexts


def wiring(text):
    """The definition of each name in a listing."""
    lines = (line.split(" = ", 1) for line in text.splitlines() if " = " in line)
    return {name.strip(): value for name, value in lines}


def count(text, op):
    return sum(value.startswith(f"{op}(") for value in wiring(text).values())


def test_a_while_loop():
    n = kg.placeholder(dtype=int, name="n")
    i, _ = pairs(n)
    text = i.loop.context.describe()
    for op in ("Merge", "Switch", "NextIteration", "Exit"):
        assert count(text, op) == 3
    assert count(text, "Enter") == 4
    assert text.count("is_constant=True") == 1
    assert count(text, "LoopCond") == 1
    assert text.startswith("while loop 'pairs' (test_classic.py:")
    made = wiring(text)
    assert made["p.j/enter"] == "Enter(1)"
    assert made["n/enter"] == "Enter(n, is_constant=True)"
    assert made["i/merge"] == "Merge(i/enter, i/next)"
    assert made["predicate"] == "i/merge < n/enter"
    assert made["loop_cond"] == "LoopCond(predicate)"
    assert made["p.k/switch"] == "Switch(p.k/merge, loop_cond)"
    assert made["p.k/body"] == "p.j/switch:1 - p.k/switch:1"
    assert made["p.k/next"] == "NextIteration(p.k/body)"
    assert made["p.k/exit"] == "Exit(p.k/switch:0)"


def test_a_conditional():
    x, y = kg.placeholder(name="x"), kg.placeholder(name="y")
    z = kg.cond(x < y, lambda: x * 17, lambda: y + 23, name="choice")
    texts = [context.describe() for context in contexts(z)]
    assert texts[0] == texts[1]  # both branches belong to it
    assert texts[0].splitlines()[1:] == [
        "  predicate  = x < y",
        "  y/switch   = Switch(y, predicate)",
        "  x/switch   = Switch(x, predicate)",
        "  switch_t: predicate is true",
        "    switch_t/result  = x/switch:1 * 17",
        "  switch_f: predicate is false",
        "    switch_f/result  = y/switch:0 + 23",
        "  merge  = Merge(switch_f/result, switch_t/result)",
    ]
    assert {context.pivot for context in contexts(z)} == {"switch_t", "switch_f"}


def test_one_switch_for_a_value_both_branches_use():
    x = kg.placeholder(name="x")
    z = kg.cond(x > 0, lambda: x * x * x, lambda: -x)
    text = contexts(z)[0].describe()
    assert count(text, "Switch") == 1
    assert "x/switch:1 * x/switch:1 * x/switch:1" in text
    assert "-x/switch:0" in text


def test_switch_with_several_branches():
    i, x = kg.placeholder(dtype=int, name="i"), kg.placeholder(name="x")
    z = kg.switch(i, [lambda: x, lambda: x + 1, lambda: x + 2])
    text = contexts(z)[0].describe()
    assert count(text, "SwitchN") == 1
    assert "switch_2: index is 2" in text
    assert "Merge(switch_0/result, switch_1/result, switch_2/result)" in text


def test_nested_contexts_are_shown_nested():
    x, w = kg.placeholder(name="x"), kg.placeholder(name="w")

    def shrink(x):
        return kg.while_loop(lambda z: z > 0.5, lambda z: z / w, [x], name="shrinking")[0]

    (y,) = kg.while_loop(
        lambda x: x > 2,
        lambda x: kg.cond(x > 3, lambda: shrink(x), lambda: x * x, name="choice"),
        [x],
        name="outer",
    )
    text = y.loop.context.describe()
    indents = {
        title: len(re.search(rf"^( *){title}", text, re.M)[1])
        for title in ("while loop 'outer'", "cond 'choice'", "switch_t", "while loop 'shrinking'")
    }
    assert list(indents.values()) == [0, 2, 4, 6]
    made = wiring(text)
    assert made["choice/w/switch"] == "Switch(w/enter, choice/predicate)"
    assert made["shrinking/w/enter"] == "Enter(choice/w/switch:1, is_constant=True)"
    assert made["shrinking/z/enter"] == "Enter(choice/x/switch:1)"
    assert made["choice/switch_t/result"] == "shrinking/z/exit"
    assert made["x/next"] == "NextIteration(choice/merge)"
    inner = y.loop.context.nested_contexts[0].nested_contexts[0]
    own = inner.describe()
    assert own.startswith("while loop 'shrinking'")
    assert wiring(own)["z/enter"] == "Enter(x)"  # by the user's name


def test_states_are_loop_variables():
    total, x = kg.state(0.0, name="total"), kg.placeholder(name="x")

    def judge(i):
        total.assign_add(x)
        return i < 3

    (i,) = kg.while_loop(judge, lambda i: i + 1, [0])
    made = wiring(i.loop.context.describe())
    assert made["total/judged"] == "assign(total/merge + x/enter)"
    assert made["total/switch"] == "Switch(total/judged, loop_cond)"
    assert made["total/next"] == "NextIteration(total/switch:1)"


def test_a_scan_is_a_loop_with_a_counter():
    x, w = kg.placeholder((4,), name="x"), kg.placeholder(name="w")
    last, _ = kg.scan(lambda s, v: (s + v * w, s), 0.0, x, reverse=True)
    text = contexts(last)[0].describe()
    made = wiring(text)
    assert "as a while loop, whose counter" in text
    assert made["predicate"] == "counter/merge < 4"
    assert made["v/enter"] == "Enter(x, is_constant=True)"
    assert made["s/body"] == "s/switch:1 + v/enter[3 - counter/switch:1] * w/enter"
    assert made["ys/body"] == "ys/switch:1.at[3 - counter/switch:1].set(s/switch:1)"


def test_a_switch_of_two_is_by_an_index():
    i, x = kg.placeholder(dtype=int, name="i"), kg.placeholder(name="x")
    y = kg.switch(i, [lambda: x, lambda: -x])
    text = contexts(y)[0].describe()
    assert "predicate" not in text
    assert count(text, "SwitchN") == 1


def test_the_results_of_a_scan_inside_of_a_branch():
    x, p = kg.placeholder((4,), name="x"), kg.placeholder(dtype=bool, name="p")

    def branch():
        last, rows = kg.scan(lambda s, v: (s + v, s), 0.0, x, name="sums")
        return last * 2, rows + 3

    results = kg.cond(p, branch, lambda: (x[0], x))
    made = wiring(contexts(results[0])[0].describe())
    assert made["switch_t/result[0]"] == "sums/s/exit * 2"
    assert made["switch_t/result[1]"] == "sums/ys/exit + 3"


def test_a_bound_and_a_batch_are_told():
    x = kg.placeholder((3,), name="x")
    y = kg.vmap(lambda v: kg.while_loop(lambda v: v < 9, lambda v: v * 2, [v], 5)[0])(x)
    text = contexts(y)[0].describe()
    assert "(all rows at once, without a loop)" in text
    assert "(at most 5 trips: their counter is not shown)" in text


def test_values_used_twice_and_derivatives_have_their_line():
    x = kg.placeholder(name="x")

    def branch():
        y = x * x + 1
        return kg.gradients(y * y, x)

    z = kg.cond(x > 0, branch, lambda: x)
    made = wiring(contexts(z)[1].describe())
    assert made["switch_t/#1"] == "x/switch:1 * x/switch:1 + 1"
    assert made["switch_t/result"] == "gradients(switch_t/#1 * switch_t/#1, x/switch:1)"


def test_contexts_do_not_keep_their_node():
    x = kg.placeholder(name="x")
    z = kg.cond(x > 0, lambda: x * 2, lambda: x)
    context, node = contexts(z)[0], weakref.ref(z.node.parents[0])
    gc.disable()
    try:
        del z
        assert node() is None
    finally:
        gc.enable()
    assert "not finished, or no longer in use" in context.describe()
    assert "captures x" in context.describe()


def test_a_context_that_is_being_built():
    x = kg.placeholder(name="x")
    seen = []

    def branch():
        y = x * 2
        seen.append(y.node.context.describe())
        return y

    kg.cond(x > 0, branch, lambda: x)
    assert "not finished" in seen[0]


def test_names_of_inner_nodes_and_results_in_messages():
    x, y = kg.placeholder(name="x"), kg.placeholder(name="y")
    outer = x * 2
    seen = []

    def branch():
        inside = outer + 1
        seen.append(inside.node.parents[0])
        return inside, y

    results = kg.cond(x < y, branch, lambda: (y, y), name="choice")
    assert describe(seen[0]) == "outer"
    assert describe(seen[0], {}) == "x * 2"
    # pytest keeps compared values in variables, whose names would be used
    node, used = results[1].node, (results[1] + 1).node
    texts = describe(node, {}), describe(used, {}), repr(results[0])
    assert texts == (
        "result [1] of cond 'choice'",
        "choice(...)[1] + 1",
        "<result [0] of cond 'choice', a number, float64>",
    )
    held = results[0]
    node = (held + 1).node
    assert describe(node, {id(held.node): "held"}) == "held + 1"
    made = pairs(kg.placeholder(dtype=int, name="n"))
    node, trips = made[1].j.node, made[0].loop.trips.node
    assert describe(node) == "p.j of while loop 'pairs'"
    assert describe(trips) == "trips of while loop 'pairs'"
    _, by_y = kg.gradients(outer * y, [x, y])
    pushed = kg.jvp(outer, x, y)
    names = {id(outer.node): "outer"}
    assert describe(by_y.node, names) == "gradients(outer * y, y)"
    assert describe(pushed.node, names) == "jvp(outer, x, y)"


def test_the_form_survives_a_file(tmp_path):
    i, _ = pairs(kg.placeholder(dtype=int, name="n"))
    kg.save_graph(tmp_path / "loop.kg", i)
    loaded = kg.load_graph(tmp_path / "loop.kg")
    assert loaded.loop.context.describe() == i.loop.context.describe()


def test_an_operation_of_more_than_forty_characters_has_a_line_of_its_own():
    results = []
    for length in (40, 41):
        x = kg.placeholder(name="x" * (length - len("arctan(/switch:1)")))
        z = kg.cond(x > 2, lambda: kg.arctan(x) * 2, lambda: 0.0)
        results.append(wiring(contexts(z)[0].describe())["switch_t/result"])
    assert [result.startswith("arctan(xxx") for result in results] == [True, False]
