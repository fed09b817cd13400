"""Drawings of arrays: the listing, folding, escaping, files, big and deep graphs."""

import re
import time
import xml.etree.ElementTree as ET
from itertools import combinations

import numpy as np
import pytest
from tests.selection import thinned

import kinetograph as kg
from kinetograph.graph.drawing.diagram import Diagram, Edge, Vertex
from kinetograph.graph.drawing.drawing import Drawing, draw_graph
from kinetograph.graph.drawing.svg import text_width

NAMESPACE = "{http://www.w3.org/2000/svg}"


def boxes(svg):
    """The left, top, right and bottom of each node with its text."""
    found = []
    for group in ET.fromstring(svg).iter(f"{NAMESPACE}g"):
        if not group.get("class", "").startswith("node"):
            continue
        parts = []
        for element in group:
            tag = element.tag.removeprefix(NAMESPACE)
            number = {k: float(v) for k, v in element.items() if re.fullmatch(r"-?[\d.]+", v)}
            if tag == "circle":
                x, y, r = number["cx"], number["cy"], number["r"]
                parts.append((x - r, y - r, x + r, y + r))
            elif tag == "rect":
                x, y = number["x"], number["y"]
                parts.append((x, y, x + number["width"], y + number["height"]))
            elif tag == "polygon":
                pairs = [list(map(float, p.split(","))) for p in element.get("points").split()]
                xs, ys = zip(*pairs)
                parts.append((min(xs), min(ys), max(xs), max(ys)))
            elif tag == "text":
                half = text_width(element.text, number["font-size"]) / 2
                x, y = number["x"], number["y"]
                parts.append((x - half, y - number["font-size"] * 0.8, x + half, y + 2))
        lows, highs = np.array(parts)[:, :2].min(0), np.array(parts)[:, 2:].max(0)
        found.append((*lows, *highs))
    return found


def assert_apart(svg):
    root = ET.fromstring(svg)
    width, height = float(root.get("width")), float(root.get("height"))
    covered = boxes(svg)
    for left, top, right, bottom in covered:
        assert left >= 0
        assert top >= 0
        assert right <= width
        assert bottom <= height
    if len(covered) > 300:  # by columns: the pairs of all nodes are too many
        covered.sort()
    for a, b in combinations(covered, 2):
        if len(covered) > 300 and b[0] >= a[2]:
            continue
        assert a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1], (a, b)


def every_format(drawing):
    return [drawing.text(), drawing.mermaid(), drawing.dot(), drawing.svg()]


def test_listing_of_every_node():
    mu = kg.normal(0, 5)
    tau = kg.half_cauchy(5)
    x = kg.data([1.0, 2.0], dims="place")
    theta = mu + tau * x
    assert draw_graph(theta).text() == (
        "mu        ~ normal(0, 5)\n"
        "tau       ~ half_cauchy(5)\n"
        "x[place]  data              shape (2,)\n"
        "#1        = tau * x         shape (2,)\n"
        "theta     = mu + #1         shape (2,)"
    )


def test_collapsed_listing():
    mu = kg.normal(0, 5)
    x = kg.data([1.0, 2.0])
    theta = np.exp(mu - 2 * x)
    assert draw_graph(theta, collapse=True).text() == (
        "mu     ~ normal(0, 5)\n"
        "x      data               shape (2,)\n"
        "theta  = exp(mu - 2 * x)  shape (2,)"
    )


def test_nodes_without_names_are_numbered():
    a = kg.normal(0, 1, name="a")
    drawing = draw_graph(a + kg.normal(0, 1), collapse=True)
    assert drawing.text() == "a   ~ normal(0, 1)\n#1  ~ normal(0, 1)\n#2  = a + #1"
    assert "#35;1" in drawing.mermaid()
    assert ">#1<" in drawing.svg()


def test_expressions_have_the_brackets_they_need():
    a, b, c = (kg.normal(0, 1, name=n) for n in "abc")
    m = kg.normal(0, 1, shape=(3, 3), name="m")
    i = kg.data([0, 2], name="i")
    cases = {
        "(a + b) * c": (a + b) * c,
        "a + b * c": a + b * c,
        "a - (b - c)": a - (b - c),
        "a - b - c": a - b - c,
        "a + b + c": a + (b + c),
        "a / (b * c)": a / (b * c),
        "(a + exp(b)) * c": (a + np.exp(b)) * c,
        "-(a + b)": -(a + b),
        "(-a) ** 2": (-a) ** 2,
        "-a ** 2": -(a**2),
        "a ** b ** c": a ** (b**c),
        "(a ** b) ** c": (a**b) ** c,
        "(a < b) == (b < c)": (a < b) == (b < c),
        "m[i]": m[i],
        "m[1, :]": m[1, :],
        "m[::2, i]": m[::2, i],
        "(m + a)[..., None]": (m + a)[..., None],
        "sum(m)": m.sum(),
        "sum(m, axis=1)": m.sum(axis=1),
        "(m @ m).T": (m @ m).T,
        "m + [1, 2, 3]": m + np.array([1.0, 2.0, 3.0]),
        "m * array[3, 3]": m * np.linspace(0, 1, 9).reshape(3, 3),
    }
    for text in cases:  # a loop variable would give the array its name
        last = draw_graph([cases[text]], collapse=True).text().splitlines()[-1]
        assert last.startswith(f"#1  = {text} ") or last == f"#1  = {text}", (text, last)


def test_numpy_arrays_are_called_as_the_variable_that_holds_them():
    x = kg.normal(0, 1)
    weights = np.array([0.2, 0.7, 0.1])
    y = x * weights
    assert "y        = x * weights" in draw_graph(y, collapse=True).text()
    same = weights.copy()
    assert "y  = x * [0.2, 0.7, 0.1]" in draw_graph(y, collapse=True).text(), same


def test_what_several_use_is_written_once():
    a = kg.normal(0, 1)
    shared = [np.exp(a * a)]  # no variable holds the array itself
    y, z = shared[0] + 1, shared[0] + 2
    assert draw_graph([y, z], collapse=True).text().splitlines()[1:] == [
        "#1  = exp(a * a)", "y   = #1 + 1", "z   = #1 + 2"
    ]  # fmt: skip


def test_likelihood_and_bounds_are_drawn():
    low = kg.normal(0, 1)
    v = kg.variable(lower=low)
    y = kg.data([1.0, 2.0])
    kg.observe(y, kg.normal(v, 1))
    drawing = draw_graph(y)
    assert "y    ~ normal(v, 1)" in drawing.text()
    assert 'label="lower"' in drawing.dot()
    assert 'label="sd"' in drawing.dot()


def test_edges_of_operations_say_which_and_which_side():
    a, b = kg.normal(0, 1), kg.normal(0, 1)
    i = kg.data([0, 1])
    c = a - b
    d = kg.normal(0, 1, shape=3)[i] + np.exp(c)
    labels = set(re.findall(r'label="([^"]+)"\]', draw_graph(d).dot()))
    assert {"□ -", "- □", "□[ ]", "[□]", "exp", "+", "mean", "sd"} <= labels


NASTY = 'a"b<c>&d\\e|`f`#1;'


def test_names_are_escaped_in_every_format():
    drawing = draw_graph(kg.normal(0, 1, name=NASTY) + kg.data(1.5, name="</text>\n\t]]>"))
    root = ET.fromstring(drawing.svg())
    texts = ["".join(e.itertext()) for e in root.iter(f"{NAMESPACE}text")]
    assert NASTY in texts
    assert "</text> ]]>" in texts
    line = next(x for x in drawing.mermaid().splitlines() if "a#34;b" in x)
    assert re.fullmatch(r'  n\d+\(\("[^"<>&`\\|]*"\)\)', line)
    assert 'label="a\\"b<c>&amp;d\\\\e|`f`#1;"' in drawing.dot()
    assert NASTY in drawing.text()
    assert all("\t" not in form for form in every_format(drawing))


def test_control_characters_do_not_break_the_picture():
    ET.fromstring(draw_graph(kg.normal(0, 1, name="a\x00\x1bb")).svg())


def test_mermaid_labels_are_no_lists():
    vertices = [Vertex("operation", caption=c) for c in ("-", "+ 1", "1. x", "-x", "1.5")]
    lines = Drawing(Diagram(vertices)).mermaid().splitlines()[1:6]
    assert [line.split('"')[1] for line in lines] == ["#45;", "#43; 1", "1#46; x", "-x", "1.5"]


def test_save_chooses_the_format_by_the_suffix(tmp_path):
    drawing = draw_graph(kg.normal(0, 1, name="a"))
    text, mermaid, dot, svg = every_format(drawing)
    wanted = {"a.txt": text, "a.mmd": mermaid, "a.dot": dot, "a.gv": dot, "a.SVG": svg}
    for name, content in wanted.items():
        drawing.save(tmp_path / name)
        assert (tmp_path / name).read_text(encoding="utf-8") == content + "\n"
    drawing.save(str(tmp_path / "b.svg"))
    assert (tmp_path / "b.svg").exists()


@pytest.mark.parametrize("name", ["a.png", "a", "svg", "a.svg.gz"])
def test_save_refuses_other_suffixes_and_writes_nothing(tmp_path, name):
    drawing = draw_graph(kg.normal(0, 1, name="a"))
    with pytest.raises(ValueError, match=r"\.txt .*\.mmd .*\.dot or \.gv .*\.svg"):
        drawing.save(tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_notebooks_and_print():
    drawing = draw_graph(kg.normal(0, 1, name="a"))
    assert str(drawing) == repr(drawing) == drawing.text() == "a  ~ normal(0, 1)"
    assert drawing._repr_svg_() == drawing.svg()
    assert drawing._repr_mimebundle_() == {
        "image/svg+xml": drawing.svg(),
        "text/plain": drawing.text(),
    }


def test_only_arrays_can_be_drawn():
    with pytest.raises(TypeError, match="got the number 3"):
        draw_graph(3)
    with pytest.raises(TypeError, match="got the text 'x'"):
        draw_graph([kg.normal(0, 1), "x"])
    with pytest.raises(ValueError, match="no arrays"):
        draw_graph([])


def many(kind):
    x = kg.normal(0, 1, name="x")
    if kind == "chain":
        for _ in range(1000):
            x = np.exp(x)
        return x
    if kind == "plate":
        return [kg.normal(x, 1, name=f"w{i}") for i in range(500)]
    rng = np.random.default_rng(0)
    pool = [x, *(kg.normal(0, 1, name=f"v{i}") for i in range(50))]
    for _ in range(900):
        i, j = rng.integers(0, len(pool), 2)
        pool.append(pool[i] + pool[j])
    return pool


@pytest.mark.parametrize(
    ("kind", "collapse"),
    thinned([(k, c) for c in (True, False) for k in ("chain", "plate", "random")], 5),
)
def test_a_thousand_nodes_are_drawn_in_time(kind, collapse):
    arrays = many(kind)
    start = time.process_time()  # other processes may use the processor
    *_, svg = every_format(draw_graph(arrays, collapse=collapse))
    assert time.process_time() - start < 5
    assert_apart(svg)


def test_deep_graphs_do_not_recurse():
    x = kg.normal(0, 1)
    y = x
    for _ in range(5000):
        y = y + x
    folded = draw_graph(y, collapse=True)
    assert re.fullmatch(r"x  ~ normal\(0, 1\)\ny  = \.\.\.( \+ x)+", folded.text())
    assert len(draw_graph(y).text().splitlines()) == 5001


def test_cycles_and_loops_are_drawn():
    vertices = [Vertex("data", name=n) for n in "abc"]
    edges = [Edge(0, 1), Edge(1, 2, "back"), Edge(2, 0, "again"), Edge(1, 1, "self")]
    drawing = Drawing(Diagram(vertices, edges))
    assert_apart(drawing.svg())
    paths = [e for e in ET.fromstring(drawing.svg()).iter() if e.get("class") == "edge"]
    assert len(paths) == 4


def test_an_empty_diagram_is_well_formed():
    drawing = Drawing(Diagram())
    ET.fromstring(drawing.svg())
    assert drawing.text() == ""


def test_arrows_start_and_end_at_their_nodes():
    a, b = kg.normal(0, 1, name="a"), kg.normal(0, 1, name="b")
    svg = draw_graph(a * b + a, collapse=False).svg()
    covered = boxes(svg)
    for path in ET.fromstring(svg).iter(f"{NAMESPACE}path"):
        if path.get("class") != "edge":
            continue
        x0, y0 = map(float, re.match(r"M([\d.]+) ([\d.]+)", path.get("d")).groups())
        x1 = float(re.findall(r"[\d.]+", path.get("d"))[-1])
        assert any(abs(right - x0) < 30 and top <= y0 <= low for _, top, right, low in covered)
        assert any(left - 4 <= x1 <= right for left, _, right, _ in covered)


def test_long_names_and_expressions_are_cut_in_pictures_only():
    name = "a_very_long_name_of_an_unknown_that_goes_on_and_on"
    x = kg.normal(0, 1, name=name)
    drawing = draw_graph(x * 2)
    assert name in drawing.text()
    texts = [e.text for e in ET.fromstring(drawing.svg()).iter(f"{NAMESPACE}text")]
    assert any(t.endswith("…") for t in texts)
    assert max(map(len, texts)) <= 28
    titles = [e.text for e in ET.fromstring(drawing.svg()).iter(f"{NAMESPACE}title")]
    assert any(name in t for t in titles)


def loops():
    n, x = kg.placeholder(dtype=int, name="n"), kg.placeholder(name="x")
    i, v = kg.while_loop(lambda i, v: i < n, lambda i, v: (i + 1, v * x), [0, x + 1], name="growth")
    return n, x, i, v


def test_a_loop_is_one_node():
    _, _, i, v = loops()
    total = v + i
    assert draw_graph(total, collapse=True).text() == (
        "n       placeholder\n"
        "x       placeholder\n"
        "growth  = while(i=0, v=x + 1, n, x)\n"
        "i       = growth.i\n"
        "v       = growth.v\n"
        "total   = v + i"
    )
    del i, v
    drawing = draw_graph([total])
    assert drawing.text().splitlines()[-2:] == [
        "growth  = while(i=0, v=#1, n, x)",
        "total   = growth.v + growth.i",
    ]
    loop, end = (
        next(k for k, vertex in enumerate(drawing.diagram.vertices) if vertex.name == name)
        for name in ("growth", "total")
    )
    assert drawing.diagram.vertices[loop].kind == "control"
    assert Edge(loop, end, "v, i") in drawing.diagram.edges
    assert "growth<br/>while loop" in drawing.mermaid()
    assert_apart(drawing.svg())


def test_a_conditional_and_its_only_result_are_one_node():
    x, y = kg.placeholder(name="x"), kg.placeholder(name="y")
    c = kg.cond(x < y, lambda: x * 2, lambda: y, name="choice")
    g = kg.gradients(c * c, x)
    drawing = draw_graph(g, collapse=True)
    assert drawing.text() == (
        "x  placeholder\ny  placeholder\nc  = choice(x < y, y, x)\ng  = gradients(c * c, x)"
    )
    names = [vertex.name for vertex in drawing.diagram.vertices]
    ends = {(names[e.source], names[e.target]) for e in drawing.diagram.edges}
    assert ends == {("x", "c"), ("y", "c"), ("c", "g"), ("x", "g")}
    assert "c<br/>choice" in draw_graph(g).mermaid()
    for text in every_format(draw_graph(g)) + every_format(drawing):
        assert "part" not in text


def test_scans_batches_and_functions_of_several_results():
    x, w = kg.data([1.0, 2.0], name="x"), kg.placeholder(name="w")
    last, sums = kg.scan(lambda s, v: (s + v * w, s), 0.0, x, name="running")
    rows = kg.vmap(lambda v: v * w, name="each")(x)
    low, high = kg.lift(lambda x: (x.min(), x.max()))(x)
    lines = draw_graph([last, sums, rows, low, high], collapse=True).text().splitlines()
    assert [line.split("  shape")[0].rstrip() for line in lines[2:]] == [
        "running  = scan(s=0, v=x, w)",
        "last     = running.s",
        "sums     = running.ys",
        "rows     = each(v=x, w)",
        "#1       = <lambda>(x)",
        "low      = #1[0]",
        "high     = #1[1]",
    ]


def test_two_loops_of_one_name():
    x = kg.placeholder(name="x")
    ends = []
    for _ in range(2):
        ends += kg.while_loop(lambda a, b: a < 9, lambda a, b: (a + b, b), [x, x + 1], name="same")
    text = draw_graph(sum(ends), collapse=True).text()
    assert "same  = while(a=x, b=x + 1)" in text
    assert "#1    = while(a=x, b=x + 1)" in text


def test_the_classic_form_has_nested_groups():
    _, x, i, v = loops()
    y = kg.cond(v > 2, lambda: kg.cond(x > 0, lambda: x, lambda: -v, name="inner"), lambda: v)
    drawing = draw_graph([y, i], classic=True)
    titles = [group.title.split(" (")[0] for group in drawing.diagram.groups]
    assert titles[0] == "while loop 'growth'"
    assert titles[3:] == [
        "cond 'inner'",
        "switch_t: predicate is true",
        "switch_f: predicate is false",
        "switch_f: predicate is false",
    ]
    dot, mermaid = drawing.dot(), drawing.mermaid()
    assert dot.count("subgraph cluster_") == mermaid.count("subgraph g") == 7
    assert "\n    subgraph cluster_2" in dot
    assert "\n      subgraph cluster_3" in dot
    assert dot.count("{") == dot.count("}")
    assert mermaid.count(" end") == mermaid.count("\n") - mermaid.replace("  end\n", "").count("\n")
    lines = drawing.text().splitlines()
    assert "  growth/i/merge    = Merge(growth/i/enter, growth/i/next)" in lines
    assert any(line.startswith("i ") and line.endswith("= growth/i/exit") for line in lines)
    assert "in switch_t, inner, " in drawing.svg()
    assert_apart(drawing.svg())


def test_loops_lead_back_in_pictures_of_the_classic_form():
    _, _, i, _ = loops()
    drawing = draw_graph(i, classic=True)
    names = [vertex.name for vertex in drawing.diagram.vertices]
    places = dict(zip(names, boxes(drawing.svg())))
    back = [e for e in drawing.diagram.edges if places[names[e.source]] > places[names[e.target]]]
    assert {names[e.source] for e in back} == {"growth/i/next", "growth/v/next"}


def test_the_classic_form_of_a_model_in_the_making():
    mu = kg.normal(0, 5)
    y = kg.cond(mu > 0, lambda: mu * 2, lambda: mu, name="double") + 1
    lines = draw_graph(y, classic=True).text().splitlines()
    assert lines[0] == "mu  ~ normal(0, 5)"
    assert lines[-1] == "y  = double/merge + 1"
    assert draw_graph([y * 2], classic=True).text().splitlines()[-1].endswith("= y * 2")
