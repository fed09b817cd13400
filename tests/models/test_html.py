"""The HTML of models in notebooks."""

import re
import xml.etree.ElementTree as ET
from base64 import b64decode

import numpy as np
import pytest

import kinetograph as kg


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


def texts(model):
    """The heading, and the cells of each table, row by row."""
    root = ET.fromstring(model._repr_html_())
    tables = [
        [[c.text or "" for c in row] for row in t.findall("tr")] for t in root.findall("table")
    ]
    return root.findtext("b"), tables


def test_tables_of_eight_schools(schools):
    head, (unknowns, observed, others) = texts(schools)
    assert head == "Model of 3 unknowns, 10 free numbers; 8 observed numbers"
    assert unknowns == [
        ["Unknowns", "distribution", "shape", "dims"],
        ["mu", "normal(0, 5)", "()", ""],
        ["tau", "half_cauchy(5)", "()", ""],
        ["z", "normal(0, 1)", "(8,)", "school"],
    ]
    assert observed == [
        ["Observed", "distribution", "shape", "dims"],
        ["y", "normal(theta, sigma)", "(8,)", "school"],
    ]
    assert others == [
        ["Other data", "distribution", "shape", "dims"],
        ["sigma", "", "(8,)", "school"],
    ]


def test_the_drawing_stands_alone(schools):
    html = schools._repr_html_()
    (image,) = re.findall(r'src="data:image/svg\+xml;base64,([^"]*)"', html)
    assert b64decode(image).decode() == schools.plot().svg()
    assert ET.fromstring(html).find("details/summary").text == "Drawing"
    assert not re.search(r"https?:|<script|\bid=|<style", html)


def test_names_are_no_markup():
    name = '<img src=x onerror="alert(1)">'
    y = kg.data([1.0], name=name)
    mu = kg.normal(0, 1, name="a & <b>")
    kg.observe(y, kg.normal(mu, 1))
    model = kg.model(mu)
    html = model._repr_html_()
    assert "<b>a" not in html.replace("<b>Model", "")
    assert "<img src=x" not in html
    _, (unknowns, observed) = texts(model)
    assert unknowns[1][0] == "a & <b>"
    assert observed[1][:2] == [name, "normal(a & <b>, 1)"]


def test_fixed_flat_and_marginalised_unknowns():
    low = kg.variable(lower=0)
    k = kg.bernoulli(0.3)
    mu = kg.normal(0, 1)
    effect = kg.normal(mu, 1, shape=2)
    kg.factor(-low * (mu + 1) ** 2)
    kg.observe(np.zeros(2), kg.normal(effect + k, 1), name="y")
    model = kg.model(low, mu, effect)
    head, (unknowns, observed) = texts(model)
    assert head == "Model of 4 unknowns, 4 free numbers; 2 observed numbers; 1 factor"
    assert ["low", "flat, above 0", "()", ""] in unknowns
    assert ["k", "bernoulli(0.3), marginalised", "()", ""] in unknowns
    assert observed[1][1] == "normal(effect + k, 1)"
    _, (_, _, fixed) = texts(kg.condition(model, mu=1.0))
    assert fixed[1][:2] == ["mu", "normal(0, 1)"]
    _, (_, _, fixed) = texts(kg.do(model, mu=1.0))
    assert fixed[1][:2] == ["mu", "set by kg.do"]
