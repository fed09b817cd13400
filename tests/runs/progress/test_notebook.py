"""Progress in a notebook."""

import sys
import xml.etree.ElementTree as ET
from types import ModuleType, SimpleNamespace

import pytest
from tests.runs.models import gaussian, run
from tests.runs.progress.test_display import LENGTHS, chain_at, gone_on

from kinetograph.runs.progress.notebook import NotebookProgress, in_notebook
from kinetograph.runs.progress.reporting import make_progress

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")


class Page:
    """What a notebook shows: places that change."""

    def __init__(self):
        self.places = []

    def display(self, shown, *, display_id):
        assert display_id is True
        place = SimpleNamespace(seen=[shown])
        place.update = place.seen.append
        self.places.append(place)
        return place

    @property
    def html(self):
        (place,) = self.places
        return place.seen[-1]


@pytest.fixture
def page(monkeypatch):
    found = Page()
    ipython, display = ModuleType("IPython"), ModuleType("IPython.display")
    ipython.get_ipython = lambda: SimpleNamespace(kernel=object())
    ipython.display = display
    display.HTML, display.display = str, found.display
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    return found


def cells(html):
    """The texts of the rows of the table, and the widths of its bars."""
    rows = ET.fromstring(html).find("table").findall("tr")
    bars = [div.get("style") for row in rows[1:] for div in row.findall("td/div/div")]
    widths = [style.partition("width:")[2].partition("%")[0] for style in bars]
    return [["".join(cell.itertext()) for cell in row] for row in rows], list(map(float, widths))


def test_a_run_in_a_notebook_changes_one_place(page, capfd):
    tree = run(gaussian(), progress=True)
    assert capfd.readouterr() == ("", "")
    assert len(page.places) == 1
    assert len(page.places[0].seen) > 3
    assert "compil" in page.html
    assert "120 draws of 2 chains" in page.html
    (head, *rows), widths = cells(page.html)
    assert head[0] == "chain"
    assert head[-1] == "left"
    assert [row[0] for row in rows] == ["0", "1", "all"]
    assert [row[2] for row in rows] == ["done"] * 3
    assert widths == [100.0] * 3
    assert tree["posterior"].sizes["draw"] == 60


def test_the_table_says_where_chains_are(page):
    progress, chains = NotebookProgress(), [chain_at(0), chain_at(3)]
    progress.start(chains, LENGTHS, 2)
    gone_on(chains[0])
    gone_on(chains[1], transition=300, kept=0, divergences=0)
    progress.last -= 1
    progress.update()
    (_, first, second, whole), widths = cells(page.html)
    assert first[2:] == ["sampling", "750/1,500", "3", "0.432", "375/s", "00:02"]
    assert second[0] == "3"
    assert second[2:] == ["warm-up", "300/1,500", "0", "0.432", "150/s", "00:08"]
    assert (whole[3], whole[4], whole[7]) == ("35 %", "3", "00:08")
    assert widths == [50.0, 20.0, 35.0]


def test_what_is_said_is_no_markup_and_has_the_colours_of_the_page(page):
    progress = NotebookProgress()
    progress.say('<script>alert("x")</script> & more')
    assert "<script" not in page.html
    assert ET.fromstring(page.html).find("div").text == '<script>alert("x")</script> & more'
    progress.start([chain_at()], LENGTHS, 1)
    texts = page.html.replace("color:inherit", "").replace("background:none", "")
    assert "color:" not in texts
    # A bar is seen on white and on black.
    assert "background:rgba(128,128,128,0.3)" in texts
    assert "background:#3b82c4" in texts


def test_many_chains_have_no_row_each(page):
    NotebookProgress().start([chain_at(i) for i in range(100)], LENGTHS, 100)
    rows, _ = cells(page.html)
    assert len(rows) == 1 + 16 + 2
    assert rows[-2][1] == "84 further chains"


def test_a_kernel_is_told_from_other_sessions(monkeypatch):
    monkeypatch.setitem(sys.modules, "IPython", None)
    assert not in_notebook()
    shell = ModuleType("IPython")
    monkeypatch.setitem(sys.modules, "IPython", shell)
    for session in (None, SimpleNamespace(), SimpleNamespace(kernel=None)):
        shell.get_ipython = lambda session=session: session
        assert not in_notebook()
    monkeypatch.delitem(sys.modules, "IPython")
    assert not isinstance(make_progress(True), NotebookProgress)
    assert "IPython" not in sys.modules


def test_with_a_kernel_progress_is_a_table_in_the_notebook(page):
    assert isinstance(make_progress(True), NotebookProgress)
