"""Tables in HTML."""

import re
import xml.etree.ElementTree as ET

from kinetograph.graph.markup import table


def test_cells_are_those_given_and_nothing_of_them_is_markup():
    text = table(("name", "<b>"), [("a & b", '<script>alert("x")</script>')])
    rows = ET.fromstring(text).findall("tr")
    assert [[cell.text for cell in row] for row in rows] == [
        ["name", "<b>"],
        ["a & b", '<script>alert("x")</script>'],
    ]
    assert "<script" not in text


def test_colours_are_those_of_the_page():
    text = table(("", "mean"), [("mu", "1.0")], numbers=True)
    assert not re.search(r"#[0-9a-f]{3,6}|background:(?!none)|\bcolor:(?!inherit)", text)
    assert text.count("text-align:right") == 2
    assert text.count("text-align:left") == 2
