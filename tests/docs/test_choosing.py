"""The table of samplers agrees with the docstrings of the samplers' files."""

import ast
import re
import runpy
from pathlib import Path

import numpy as np
import pytest
from tests.docs.pages import ROOT

import kinetograph as kg

PAGE = (ROOT / "docs" / "choosing-a-sampler.md").read_text(encoding="utf-8")
ROWS = {
    name: [cell.strip() for cell in rest.split("|")]
    for name, rest in re.findall(r"^\| `(\w+)` \|(.*)\|$", PAGE, re.MULTILINE)
}
NAMES = [name for name in kg.samplers.__all__ if issubclass(getattr(kg.samplers, name), kg.Sampler)]


def head(name: str) -> dict[str, str]:
    """The fields `Samples`, `Order`, ... in the docstring of a sampler's file."""
    module = getattr(kg.samplers, name).__module__.rpartition(".")[2]
    path = Path(kg.samplers.__file__).parent / f"{module}.py"
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    fields = re.findall(r"^([A-Z]\w+)  +(.*(?:\n[ \t]+\S.*)*)", text, re.MULTILINE)
    return {field: " ".join(words.split()) for field, words in fields}


def test_each_sampler_has_a_row():
    assert set(ROWS) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_exact_or_biased(name):
    law, written = ROWS[name][0], head(name)
    assert ("tends to" in written["Samples"] or "constant variance" in written["Samples"]) == (
        law.startswith("biased, order")
    )
    if order := re.match(r"biased, order (\d)", law):
        assert written["Order"].startswith(order[1])


@pytest.mark.parametrize("name", [n for n in NAMES if ROWS.get(n, ["", ""])[1] in ("1", "2")])
def test_gradients_of_a_step(name):
    assert head(name)["Cost"].startswith({"1": "one gradient", "2": "two gradients"}[ROWS[name][1]])


def test_the_picture_of_errors_has_the_orders():
    """Lines have slopes 1 and 2; exact schemes have no line."""
    drawing = runpy.run_path(str(ROOT / "examples" / "plot_step_errors.py"))
    logs = np.log(drawing["STEPS"][:6])

    def slope(scheme, coordinate):
        return np.polyfit(logs, np.log(drawing["errors"](scheme, coordinate)[:6]), 1)[0]

    assert slope("SGLD", "q") == pytest.approx(1, abs=0.05)
    assert slope("GLA2", "q") == pytest.approx(2, abs=0.05)
    assert slope("BAOAB", "p") == pytest.approx(2, abs=0.05)
    assert np.isnan(drawing["errors"]("BAOAB", "q")).all()
