"""Write the results of a benchmark: a page and JSON."""

import json
from datetime import date
from pathlib import Path
from typing import Any

from environments import machine, own_python, versions

__all__ = ["record"]

FOLDER = Path(__file__).resolve().parent / "results"


def record(name: str, page: str, **times: Any) -> None:
    """Print the page, and write it and the times to `results/<date>-<name>`."""
    print(page)
    today = date.today().isoformat()
    results = {"date": today, "machine": machine(), "versions": versions(own_python()), **times}
    (FOLDER / f"{today}-{name}.json").write_text(json.dumps(results, indent=1) + "\n")
    (FOLDER / f"{today}-{name}.md").write_text(page + "\n")
