"""The stream methods of `kg.RandomStreams`, one for each distribution.

A method has the parameters of the distribution, then `shape`, by position or by keyword, and the
keywords `name`, `like` and, for real numbers, `dtype`. It is made from the declaration of the
distribution (`distributions/declaration.py`), unless it is in `written.py`. Methods take other
libraries' names of parameters as the distribution does. Type checkers and editors read
`methods.pyi`, which `python -m tests.distributions.stubs` writes.
"""

import inspect
from collections.abc import Callable
from functools import wraps
from inspect import Parameter, Signature
from typing import Any

from ..calls.same_names import renamed
from ..distributions.declaration import DISTRIBUTIONS, Declaration, described
from ..graph.array import Array, ArrayLike
from ..graph.public import public
from .draw_arguments import sized
from .one_draw import OneDraw
from .written import WrittenDraws

__all__ = ["METHODS", "Draws"]


class Draws(WrittenDraws):
    """All methods; see `kg.RandomStreams`."""


def _signature(declaration: Declaration) -> Signature:
    """The signature of a stream method."""
    keyword_only = Parameter.KEYWORD_ONLY
    parameters = [_of_draws(p) for p in declaration.signature.parameters.values()]
    settings = {"name": str | None, "like": Any}
    if not declaration.family.discrete:
        settings["dtype"] = Any
    return Signature(
        [
            Parameter("self", Parameter.POSITIONAL_OR_KEYWORD),
            *(p for p in parameters if p.kind is not keyword_only),
            Parameter("shape", Parameter.POSITIONAL_OR_KEYWORD, default=None, annotation=Any),
            *(p for p in parameters if p.kind is keyword_only),
            *(
                Parameter(word, keyword_only, default=None, annotation=kind)
                for word, kind in settings.items()
            ),
        ],
        return_annotation=Array,
    )


def _of_draws(parameter: Parameter) -> Parameter:
    """The parameter annotated as ArrayLike, unless it has its own annotation."""
    if parameter.annotation is not Any:
        return parameter
    optional = parameter.default is None
    return parameter.replace(annotation=ArrayLike | None if optional else ArrayLike)


def _method(name: str, declaration: Declaration) -> Callable[..., Array]:
    """Make the stream method of a distribution."""
    signature = _signature(declaration)

    def draw(self: OneDraw, *values: Any, **named: Any) -> Array:
        named = renamed(declaration.same_names, named)
        given = dict(signature.bind(self, *values, **named).arguments)
        del given["self"]
        words = ("shape", "name", "dtype", "like")
        settings = {word: given.pop(word) for word in words if word in given}
        size = None
        if "shape" in declaration.context:
            size = sized(settings.get("shape"), settings.get("like"), name)
        chosen = declaration.choose((), given, shape=size, drawn=True)
        return self._draw(chosen.family, chosen.parameters, event=chosen.event, **settings)

    draw.__name__, draw.__qualname__ = name, f"Draws.{name}"
    draw.same_names = declaration.same_names  # type: ignore[attr-defined]
    return described(draw, signature, declaration.draws)


def _with_same_names(name: str, declaration: Declaration) -> Callable[..., Array]:
    """The written method, with the other names of its parameters."""
    method = getattr(WrittenDraws, name)
    parameters = inspect.signature(method).parameters
    same_names = {
        word: parameter
        for word, parameter in declaration.same_names.items()
        if parameter in parameters
    }

    @wraps(method)
    def draw(*values: Any, **named: Any) -> Array:
        return method(*values, **renamed(same_names, named))

    draw.same_names = same_names  # type: ignore[attr-defined]
    return draw


for _name, _declaration in DISTRIBUTIONS.items():
    _make = _method if _declaration.draws else _with_same_names
    setattr(Draws, _name, _make(_name, _declaration))

public(Draws)  # a decorator of the class would not know these methods

METHODS = tuple(name for name in dir(Draws) if not name.startswith("_"))
