"""The signatures that type checkers and editors read, written from the declarations.

Decorators and `setattr` make `kg.gamma` and `kg.RandomStreams().gamma` when the code runs, so two
stub files say what they are: `distributions/__init__.pyi` and `streams/methods.pyi`.

    python -m tests.distributions.stubs    writes both
"""

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.docs.pages import ROOT

from kinetograph import distributions
from kinetograph.distributions.declaration import DISTRIBUTIONS
from kinetograph.streams.methods import Draws

__all__ = ["stubs"]

HEAD = '''# ruff: noqa: E501
# fmt: off
"""{} Written by `python -m tests.distributions.stubs`."""

from typing import Any

'''
# How annotations are written where they are not names of classes.
WRITTEN = {"typing.Any": "Any", "kinetograph.graph.array.Array": "Array"}


def written(name: str, function: Callable[..., Any], body: str = "...") -> str:
    """A function in one line, with the annotations that it has when it runs."""
    text = str(inspect.signature(function))
    for long, short in WRITTEN.items():
        text = text.replace(long, short)
    return f"def {name}{text}: {body}"


def of_distributions() -> str:
    """The functions of `kg`."""
    lines = [HEAD.format("The signatures of distributions."), "from ..graph.array import Array\n"]
    lines += ["from .custom import distribution\n\n"]
    names = ", ".join(f'"{name}"' for name in distributions.__all__)
    lines += [f"__all__ = [{names}]\n\n"]
    lines += [written(name, getattr(distributions, name)) + "\n" for name in sorted(DISTRIBUTIONS)]
    return "".join(lines)


def of_streams() -> str:
    """The methods of streams."""
    lines = [HEAD.format("The signatures of draws.")]
    lines += ["from ..graph.array import Array, ArrayLike\nfrom .written import WrittenDraws\n\n"]
    lines += ["METHODS: tuple[str, ...]\n\nclass Draws(WrittenDraws):\n"]
    for name, declaration in sorted(DISTRIBUTIONS.items()):
        if declaration.draws:
            method = vars(Draws)[name]
            text = written(name, method).removesuffix(" ...")
            # `ArrayLike` is `Any` when the code runs: those of the distribution stand before.
            own = declaration.signature.parameters
            for parameter in own:
                text = re.sub(rf"\b{parameter}: Any\b", f"{parameter}: ArrayLike", text)
            doc = inspect.getdoc(method).partition("\n")[0]
            lines += [f'    {text}\n        """{doc}"""\n']
    return "".join(lines)


def stubs() -> dict[Path, str]:
    """The stub files by their paths."""
    folder = ROOT / "src" / "kinetograph"
    return {
        folder / "distributions" / "__init__.pyi": of_distributions(),
        folder / "streams" / "methods.pyi": of_streams(),
    }


def main() -> None:
    """Write the stub files."""
    for path, text in stubs().items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
