"""Mistakes that users make, and the whole text of what they read then.

Each file beside this one holds cases:

    # M109 operands of two shapes            a row of the requirements, and words
    mu = kg.normal(0, 1, shape=3)            a script, `user.py`, that has `kg` and `np`
    mu + kg.data([1.0, 2.0])
    ---
    ShapeError: cannot broadcast ...         the warnings it gave, and the error it ended with

`python -m tests.messages.golden` writes the texts anew; read what changed before you commit it.
"""

import linecache
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import kinetograph as kg

__all__ = ["Case", "cases", "outcome"]

HERE = Path(__file__).parent
SCRIPT = "user.py"


@dataclass
class Case:
    """A script and what it says."""

    file: str
    title: str
    script: str
    text: str

    def __str__(self) -> str:
        return f"# {self.title}\n{self.script}\n---\n{self.text}\n"


def cases(path: Path) -> list[Case]:
    """The cases of a file, in order."""
    found = []
    for block in path.read_text(encoding="utf-8").split("\n# ")[1:]:
        title, _, rest = block.partition("\n")
        script, _, text = rest.partition("\n---")
        found.append(Case(path.stem, title, script.strip("\n"), text.strip("\n")))
    return found


def outcome(case: Case) -> str:
    """The warnings that a script gives, advice about draws aside, and its error."""
    lines = []
    linecache.cache[SCRIPT] = 0, None, [f"{line}\n" for line in case.script.split("\n")], SCRIPT
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            exec(compile(case.script, SCRIPT, "exec"), {"kg": kg, "np": np, "__name__": "user"})
        except Exception as error:
            lines.append(f"{type(error).__name__}: {error}")
    ours = [w for w in seen if issubclass(w.category, kg.KinetographWarning)]
    ours = [w for w in ours if not issubclass(w.category, kg.SamplingWarning)]
    return "\n".join([*(f"{w.category.__name__}: {w.message}" for w in ours), *lines])


def main() -> None:
    """Write the texts of all files anew."""
    for path in sorted(HERE.glob("*.txt")):
        head = path.read_text(encoding="utf-8").partition("\n# ")[0]
        found = cases(path)
        for case in found:
            case.text = outcome(case)
        path.write_text(f"{head}\n" + "\n".join(map(str, found)), encoding="utf-8")


if __name__ == "__main__":
    main()
