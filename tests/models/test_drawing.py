"""Drawings of models: golden texts of eight schools, marks, names, folding."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from tests.graph.drawing.test_drawing import assert_apart

import kinetograph as kg
from kinetograph.models.drawing import draw_model

GOLDEN = Path(__file__).parent / "golden_drawings"


def golden(suffix):
    """A checked drawing of the model below."""
    return (GOLDEN / f"eight_schools.{suffix}").read_text(encoding="utf-8").removesuffix("\n")


@pytest.fixture
def schools():
    mu = kg.normal(0, 5)
    tau = kg.half_cauchy(5)
    z = kg.normal(0, 1, shape=(8,), dims="school")
    theta = mu + tau * z
    sigma = kg.data([15.0, 10, 16, 11, 9, 11, 10, 18], dims="school")
    y = kg.data([28.0, 8, -3, 7, -1, 1, 18, 12], dims="school")
    kg.observe(y, kg.normal(theta, sigma))
    return kg.model(mu, tau, theta=theta)


def test_text_of_eight_schools(schools):
    assert schools.plot().text() == (
        "mu             ~ normal(0, 5)                      target\n"
        "tau            ~ half_cauchy(5)                    target\n"
        "z[school]      ~ normal(0, 1)          shape (8,)\n"
        "theta[school]  = mu + tau * z          shape (8,)  target\n"
        "sigma[school]  data                    shape (8,)\n"
        "y[school]      ~ normal(theta, sigma)  shape (8,)  observed"
    )


def test_text_of_every_node_of_eight_schools(schools):
    lines = draw_model(schools, collapse=False).text().splitlines()
    assert lines[3:5] == [
        "#1[school]     = tau * z               shape (8,)",
        "theta[school]  = mu + #1               shape (8,)  target",
    ]


def test_mermaid_of_eight_schools(schools):
    assert schools.plot().mermaid() == golden("mmd")


def test_dot_of_eight_schools(schools):
    assert schools.plot().dot() == golden("dot")


def test_svg_of_eight_schools(schools):
    svg = schools.plot().svg()
    assert_apart(svg)
    assert svg == golden("svg")


def test_every_node_is_drawn_when_not_collapsed(schools):
    drawing = draw_model(schools, collapse=False)
    kinds = [vertex.kind for vertex in drawing.diagram.vertices]
    assert kinds.count("operation") == 2
    assert kinds.count("distribution") == 4
    assert kinds.count("variable") == 3
    assert kinds.count("data") == 2 + 5  # constants: 0, 5; 5; 0, 1
    assert_apart(drawing.svg())
    dot = drawing.dot()
    assert dot.count('shape="diamond"') == 4
    assert dot.count("style=dashed") == 4
    assert 'label="*"' in dot
    assert 'xlabel="theta' in dot


def test_parameters_without_a_name_are_one_node():
    a = kg.normal(0, 1, shape=3, dims="county")
    b = kg.normal(0, 1, shape=3, dims="county")
    county = kg.data([0, 1, 2, 0], dims="home")
    x = kg.data([0.0, 1, 0, 1], dims="home")
    y = kg.data([0.1, 0.2, 0.3, 0.4], dims="home")
    kg.observe(y, kg.normal(a[county] + b[county] * x, 1))
    drawing = kg.model(a, b).plot()
    assert "y[home]       ~ normal(a[county] + b[county] * x, 1)" in drawing.text()
    operations = [v for v in drawing.diagram.vertices if v.kind == "operation"]
    assert [v.caption for v in operations] == ["a[county] + b[county] * x"]
    place = drawing.diagram.vertices.index(operations[0])
    sources = [e.source for e in drawing.diagram.edges if e.target == place]
    names = [drawing.diagram.vertices[i].name for i in sources]
    assert sorted(names) == ["a", "b", "county", "x"]
    assert "normal(…, 1)" in drawing.svg()
    assert ">home (4)<" in drawing.svg()
    assert ">county (3)<" in drawing.svg()
    assert_apart(drawing.svg())


def test_factors_and_flat_unknowns():
    w = kg.variable(lower=0)
    v = kg.variable()
    model = kg.model(w, factors=[-(w**2) - (v**2)])
    assert model.plot().text() == (
        "w   ~ flat, above 0     target\nv   ~ flat\n#1  = -w ** 2 - v ** 2  factor"
    )


def test_matrices_show_their_sizes():
    R = kg.lkj_correlation(2, 3)
    drawing = kg.model(R).plot()
    assert drawing.text() == "R  ~ lkj_correlation(2)  shape (3, 3)  target"
    assert "(3 × 3)" in drawing.svg()


def test_targets_and_data_stand_out(schools):
    root = ET.fromstring(schools.plot().svg())
    groups = {
        g.find("{*}text").text: g for g in root.iter("{http://www.w3.org/2000/svg}g")
        if g.get("class", "").startswith("node")
    }  # fmt: skip
    assert groups["theta"].get("class") == "node operation target"
    assert groups["theta"].find("{*}rect").get("stroke-width") == "3"
    assert groups["y"].get("class") == "node data observed"
    assert len(groups["y"].findall("{*}rect")) == 2
    assert groups["mu"].find("{*}circle") is not None
    assert groups["z"].find("{*}circle").get("stroke-width") == "1.2"


def test_a_big_model_is_drawn():
    arrays = [kg.normal(0, 1, name=f"x{i}") for i in range(300)]
    y = kg.data(np.zeros(3))
    total = arrays[0]
    for array in arrays[1:]:
        total = total + array
    kg.observe(y, kg.normal(total, 1))
    drawing = kg.model(*arrays).plot()
    assert len(drawing.diagram.vertices) == 603
    assert re.search(r"y +~ normal\(total, 1\)", drawing.text())
    ET.fromstring(drawing.svg())
