"""Pages of reports, taken apart, and results that are made by hand."""

import re
from html.parser import HTMLParser

import numpy as np
import xarray as xr

__all__ = ["SECTIONS", "Page", "check", "normal", "results"]

SECTIONS = ["findings", "run", "lost", "model", "summary", "quantities", "energy", "divergences"]
SECTIONS += ["running"]
VOID = {"meta", "img", "br", "hr", "link", "input"}


class Page(HTMLParser):
    """A page that is taken apart: refuses tags that are not closed, and names given twice."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.tags, self.links, self.texts = [], [], [], [], {"": ""}
        self.feed(text)
        self.close()
        assert self.open == []
        assert len(set(self.ids)) == len(self.ids)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value)
            if name in ("src", "href", "xlink:href", "action", "data"):
                self.links.append(value)
        if tag not in VOID:
            self.open.append((tag, dict(attrs).get("id")))

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        names = [name for tag, name in self.open if tag == "section"]
        self.texts[names[0] if names else ""] = self.texts.get(names[0] if names else "", "") + data


def check(report):
    """Takes the page apart; it has all sections and needs nothing from outside."""
    page = Page(report.html)
    assert [name for name in page.ids if name in SECTIONS] == SECTIONS
    assert "script" not in page.tags
    for link in page.links:
        assert link.startswith(("#", "data:image/svg+xml;base64,"))
        assert not link.startswith("#") or link[1:] in page.ids
    for inner in re.findall(r"url\(([^)]*)\)", report.html):
        assert inner[1:] in page.ids
    assert "@import" not in report.html
    return page


def results(posterior, *, diverging=None, energy=None, **attrs):
    """Results by hand: draws (chain, draw, ...) by name."""
    rng = np.random.default_rng(1)
    chains, draws = next(iter(posterior.values())).shape[:2]
    each = {}
    for name, values in posterior.items():
        dims = [f"{name}_dim_{i}" for i in range(values.ndim - 2)]
        each[name] = (("chain", "draw", *dims), values)
    coords = {"chain": np.arange(chains), "draw": np.arange(draws)}
    shape = (chains, draws)
    stats = {
        "lp": rng.normal(size=shape),
        "diverging": np.zeros(shape, bool) if diverging is None else diverging,
        "energy": rng.normal(size=shape) if energy is None else energy,
    }
    recorded = {name: (("chain", "draw"), values) for name, values in stats.items()}
    tree = xr.DataTree.from_dict(
        {"/posterior": xr.Dataset(each, coords), "/sample_stats": xr.Dataset(recorded, coords)}
    )
    tree.attrs.update({"sampler": "NUTS", "draws": draws, "interrupted": 0} | attrs)
    return tree


def normal(*shape, seed=1):
    return np.random.default_rng(seed).normal(size=shape)
