"""Plates: their boxes, content and positions in a picture."""

import xml.etree.ElementTree as ET

import numpy as np
from tests.graph.drawing.test_drawing import assert_apart

import kinetograph as kg
from kinetograph.graph.drawing.lanes import stack, steps_of
from kinetograph.graph.drawing.plates import plates

SCHOOL, YEAR, PUPIL = {"school": 8}, {"year": 5}, {"pupil": 30}


def boxes(*vertices):
    groups, places = plates(vertices)
    return [(group.title, group.outer) for group in groups], places


def test_one_dimension():
    assert boxes({}, SCHOOL, {}, SCHOOL) == ([("school (8)", None)], [None, 0, None, 0])
    assert boxes({}, {}) == ([], [None, None])


def test_boxes_nest_where_dimensions_do():
    both = SCHOOL | PUPIL
    assert boxes(both, SCHOOL) == ([("school (8)", None), ("pupil (30)", 0)], [1, 0])
    groups, places = boxes(SCHOOL, both, both | {"item": 4})
    assert groups == [("school (8)", None), ("pupil (30)", 0), ("item (4)", 1)]
    assert places == [0, 1, 2]


def test_boxes_of_crossed_dimensions_are_apart():
    groups, places = boxes(SCHOOL, YEAR, SCHOOL | YEAR)
    assert groups == [("school (8)", None), ("year (5)", None), ("school (8) × year (5)", None)]
    assert places == [0, 1, 2]


def test_a_dimension_of_two_lengths_has_two_boxes():
    assert boxes(SCHOOL, {"school": 9})[0] == [("school (8)", None), ("school (9)", None)]


def test_lanes_are_stacked_in_their_boxes():
    groups, _ = plates([SCHOOL, SCHOOL | PUPIL, YEAR])
    steps = steps_of(groups)
    kinds = [(kind, groups[lane - 1].title if lane else "") for kind, lane in steps]
    assert kinds == [
        ("lane", ""),
        ("open", "school (8)"),
        ("lane", "school (8)"),
        ("open", "pupil (30)"),
        ("lane", "pupil (30)"),
        ("close", "pupil (30)"),
        ("close", "school (8)"),
        ("open", "year (5)"),
        ("lane", "year (5)"),
        ("close", "year (5)"),
    ]
    heights = {0: 50.0, 1: 40.0, 2: 30.0, 3: 60.0}
    tops, spans = stack(steps, heights)
    school, year, pupil = (spans[1 + [g.title for g in groups].index(t)] for t in
                           ("school (8)", "year (5)", "pupil (30)"))  # fmt: skip
    assert school.top > 50
    assert school.top < pupil.top < pupil.bottom < school.bottom < year.top
    for lane, span in spans.items():
        assert span.top < tops[lane]
        assert tops[lane] + heights[lane] < span.bottom


def classes():
    mu = kg.normal(0, 1)
    ability = kg.normal(mu, 1, shape=8, dims="school")
    tau = kg.half_normal(1)
    score = kg.normal(ability[:, None], tau, shape=(8, 30), dims=("school", "pupil"))
    return kg.draw_graph(score, collapse=True)


def test_nested_boxes_in_every_format():
    drawing = classes()
    dot, mermaid = drawing.dot(), drawing.mermaid()
    for text, start, title in (
        (dot, "subgraph cluster_0 {", 'label="school (8)"'),
        (mermaid, 'subgraph g0["school (8)"]', ""),
    ):
        assert start in text
        assert title in text
    assert dot.index("cluster_0") < dot.index("cluster_1") < dot.index('label="pupil (30)"')
    assert "    subgraph g1" in mermaid
    assert drawing.text() == (
        "mu                    ~ normal(0, 1)\n"
        "ability[school]       ~ normal(mu, 1)                  shape (8,)\n"
        "tau                   ~ half_normal(1)\n"
        "score[school, pupil]  ~ normal(ability[:, None], tau)  shape (8, 30)"
    )


def frame(group):
    rect = group.find("{*}rect")
    x, y, w, h = (float(rect.get(k)) for k in ("x", "y", "width", "height"))
    return group.findtext("{*}text"), (x, y, x + w, y + h)


def test_pictures_have_all_of_a_box_in_it_and_nothing_else():
    svg = classes().svg()
    assert_apart(svg)
    root = ET.fromstring(svg)
    groups = root.findall("{*}g")
    frames = dict(frame(g) for g in groups if g.get("class") == "plate")
    assert list(frames) == ["school (8)", "pupil (30)"]
    outer, inner = frames.values()
    assert outer[0] < inner[0]
    assert outer[1] < inner[1]
    assert inner[2] < outer[2] <= float(root.get("width"))
    assert inner[3] < outer[3] <= float(root.get("height"))

    def where(name):
        node = next(g for g in groups if g.findtext("{*}text") == name)
        text = node.find("{*}text")
        x, y = float(text.get("x")), float(text.get("y"))
        return [t for t, (l, top, r, b) in frames.items() if l < x < r and top < y < b]

    assert where("mu") == where("tau") == []
    assert where("ability") == ["school (8)"]
    assert where("score") == ["school (8)", "pupil (30)"]


def test_sizes_that_a_box_tells_stand_nowhere_else():
    x = kg.normal(np.zeros((8, 2)), 1, dims=("school", None), name="x")
    drawing = kg.draw_graph(x)
    assert "(2)" in drawing.svg()
    assert "school: 8" not in drawing.svg()
