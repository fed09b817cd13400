"""The imports of distributions, and the signatures that type checkers and editors read.

All are written from the declarations. `distributions/__init__.py` imports each function with the
decorator `@declared` from its file.

Samplers take the settings that their classes declare: `samplers/__init__.pyi` lists them.

Decorators and `setattr` make `kg.gamma` and `kg.RandomStreams().gamma` when the code runs, so two
stub files say what they are: `distributions/__init__.pyi` and `streams/methods.pyi`. Other
libraries' names of parameters are keywords. If a required parameter has another name, an overload
has them: the first signature is that of `help`.

    python -m tests.distributions.stubs    writes all
"""

import ast
import inspect
import re
import subprocess
import sys
from collections.abc import Callable
from inspect import Parameter, Signature
from pathlib import Path
from typing import Any

from tests.docs.pages import ROOT

from kinetograph import distributions, samplers
from kinetograph.distributions.declaration import DISTRIBUTIONS
from kinetograph.streams.methods import Draws

__all__ = ["stubs"]

HEAD = '''# ruff: noqa: E501
# fmt: off
"""{} Written by `python -m tests.distributions.stubs`."""

from typing import Any, overload

'''
PACKAGE = ROOT / "src" / "kinetograph"
# `__init__.py` of the distributions.
IMPORTS = '''"""Distributions, one family in each file.

`python -m tests.distributions.stubs` writes this file, and `__init__.pyi` for type checkers.
"""

{}
__all__ = sorted([*DISTRIBUTIONS, "distribution"])
'''
# How annotations are written where they are not names of classes.
WRITTEN = {
    "typing.Any": "Any",
    "kinetograph.graph.array.Array": "Array",
    "kinetograph.samplers.sampler.Sampler": "Sampler",
    "collections.abc.Sequence": "Sequence",
}


def declared_in(path: Path) -> list[str]:
    """The functions of a file with the decorator `@declared`."""
    functions = [
        (statement.name, ast.unparse(decorator))
        for statement in ast.parse(path.read_text(encoding="utf-8")).body
        if isinstance(statement, ast.FunctionDef)
        for decorator in statement.decorator_list
    ]
    return [name for name, decorator in functions if decorator.startswith("declared(")]


def of_imports() -> str:
    """The file that imports all distributions."""
    names = {path.stem: declared_in(path) for path in (PACKAGE / "distributions").glob("*.py")}
    names |= {"custom": ["distribution"], "declaration": ["DISTRIBUTIONS"]}
    pairs = sorted((module, listed) for module, listed in names.items() if listed)
    return IMPORTS.format("".join(f"from .{m} import {', '.join(n)}\n" for m, n in pairs))


def in_one_line(name: str, signature: Signature) -> str:
    """A function in one line, with the annotations that it has when it runs."""
    text = str(signature)
    for long, short in WRITTEN.items():
        text = text.replace(long, short)
    return f"def {name}{text}: ..."


def written(name: str, function: Callable[..., Any]) -> list[str]:
    """The lines of a function: one, or its overloads."""
    signature, same_names = inspect.signature(function), function.same_names
    parameters = signature.parameters
    required = {p for p in same_names.values() if parameters[p].default is Parameter.empty}
    # The call checks that each required parameter has one name.
    start = next((i for i, p in enumerate(parameters) if p in required), len(parameters))
    relaxed = [
        p if i < start or p.default is not Parameter.empty else p.replace(default=Ellipsis)
        for i, p in enumerate(parameters.values())
    ]
    others = [
        Parameter(
            word, Parameter.KEYWORD_ONLY, default=Ellipsis, annotation=parameters[p].annotation
        )
        for word, p in same_names.items()
    ]
    whole = in_one_line(name, signature.replace(parameters=[*relaxed, *others]))
    whole = whole.replace("Ellipsis", "...")
    if not required:
        return [whole]
    return ["@overload", in_one_line(name, signature), "@overload", whole]


def of_distributions() -> str:
    """The functions of `kg`."""
    lines = [HEAD.format("The signatures of distributions."), "from ..graph.array import Array\n"]
    lines += ["from .custom import distribution\n\n"]
    names = ", ".join(f'"{name}"' for name in distributions.__all__)
    lines += [f"__all__ = [{names}]\n\n"]
    for name in sorted(DISTRIBUTIONS):
        lines += [f"{line}\n" for line in written(name, getattr(distributions, name))]
    return "".join(lines)


def of_streams() -> str:
    """The methods of streams."""
    lines = [HEAD.format("The signatures of draws.")]
    lines += ["from ..graph.array import Array, ArrayLike\nfrom .written import WrittenDraws\n\n"]
    lines += ["METHODS: tuple[str, ...]\n\nclass Draws(WrittenDraws):\n"]
    for name, declaration in sorted(DISTRIBUTIONS.items()):
        method = vars(Draws)[name]
        if not (declaration.draws or method.same_names):
            continue
        # `ArrayLike` is `Any` when the code runs: those of the distribution stand before.
        words = "|".join([*declaration.signature.parameters, *method.same_names])
        doc = inspect.getdoc(method).partition("\n")[0]
        for line in written(name, method):
            text = re.sub(rf"\b({words}): Any\b", r"\1: ArrayLike", line)
            if text.endswith(": ..."):
                text = text.removesuffix(" ...") + f'\n        """{doc}"""'
            lines += [f"    {text}\n"]
    return "".join(lines)


def of_samplers() -> str:
    """The classes of `kg.samplers`, with the settings that each takes."""
    imports = "from collections.abc import Sequence\nfrom typing import Any\n"
    lines = [HEAD.format("The settings of samplers.").partition("from typing")[0], f"{imports}\n"]
    classes = [getattr(samplers, name) for name in samplers.__all__]
    lines += [f"from . import {m} as _{m}\n" for m in sorted({module_of(c) for c in classes})]
    lines += ["from .sampler import Sampler\n\n"]
    names = ", ".join(f'"{name}"' for name in samplers.__all__)
    lines += [f"__all__ = [{names}]\n\n"]
    for kind in classes:
        signature = inspect.signature(kind)
        typed = [
            p if p.annotation is not Parameter.empty else p.replace(annotation=Any)
            for p in signature.parameters.values()
        ]
        own = Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)
        line = in_one_line("__init__", Signature([own, *typed], return_annotation=None))
        lines += [f"class {kind.__name__}(_{module_of(kind)}.{kind.__name__}):\n    {line}\n\n"]
    return "".join(lines).rstrip("\n") + "\n"


def module_of(kind: type) -> str:
    """The file of a class, without its package."""
    return kind.__module__.rpartition(".")[2]


def stubs() -> dict[Path, str]:
    """The written files by their paths."""
    return {
        PACKAGE / "distributions" / "__init__.py": of_imports(),
        PACKAGE / "distributions" / "__init__.pyi": of_distributions(),
        PACKAGE / "streams" / "methods.pyi": of_streams(),
        PACKAGE / "samplers" / "__init__.pyi": of_samplers(),
    }


def main() -> None:
    """Write the files; with new imports, the signatures follow in a new process."""
    imports = PACKAGE / "distributions" / "__init__.py"
    if imports.read_text(encoding="utf-8") != (text := of_imports()):
        imports.write_text(text, encoding="utf-8")
        subprocess.run([sys.executable, "-m", "tests.distributions.stubs"], check=True)
        return
    for path, text in stubs().items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
