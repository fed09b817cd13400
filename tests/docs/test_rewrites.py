"""The table of rewrites in docs/how-a-run-works.md names each file that rewrites something."""

import re
from pathlib import Path

import kinetograph

ROOT = Path(kinetograph.__file__).parent
PAGE = Path(__file__).parents[2] / "docs" / "how-a-run-works.md"
ROOMS = ("graph/forms", "graph/rewriting", "models/rewrites", "models/marginal")


def test_the_table_names_every_file():
    text = PAGE.read_text().partition("**What is rewritten.**")[2].partition("\n## ")[0]
    named = re.findall(r"`((?:graph|models)/[a-z_/]+)`", text)
    files = [
        str(path.relative_to(ROOT).with_suffix(""))
        for room in ROOMS
        for path in (ROOT / room).glob("*.py")
        if path.stem != "__init__"
    ]
    assert sorted(named) == sorted(files)
