"""The decorator that declares a distribution.

It makes the public function, such as `kg.gamma`, and records what the method of streams needs:

    @declared(GAMMA, draws="Gamma numbers, with mean alpha / rate.")
    def gamma(alpha: Any, rate: Any = 1.0):
        '''A positive unknown that follows a gamma distribution. ...'''

The function becomes public (`graph/public.py`). It has the parameters of the distribution and its
docstring. The decorator adds the parameters that all distributions have (`shape`, `dims`, `name`;
with tails, `truncation` and `censoring`), their documentation, and the errors that follow from the
supports of the parameters. An entry that is in the docstring already stays as it is.

If the function has no body, its parameters are the parameters of the family, in the same order. If
there are several parametrisations, the function returns the family and its parameters as `Chosen`.
Such a function may have three more parameters, which the decorator passes: `shape` and `dims` of
the call, and `drawn`, which is true if a stream draws numbers and false if an unknown is made.

The decorator also takes other libraries' names. A parameter of another library that means exactly
the same (`same`) works as a keyword here: `kg.normal(mu=0, sigma=1)`. Other names are for messages:
they answer names that do not exist here.

`DISTRIBUTIONS` lists the declarations by name. `streams/methods.py` makes its methods from them,
and `tests/distributions/stubs.py` writes the signatures that type checkers and editors read.
"""

import inspect
import re
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from inspect import Parameter, Signature
from types import MappingProxyType
from typing import Any, NamedTuple

from ..calls.argument_advice import OF_CALLS
from ..calls.other_libraries import ELSEWHERE
from ..calls.same_names import renamed
from ..graph.array import Array
from ..graph.numpy import library_calls
from ..graph.public import public
from .family import Family
from .support import REAL
from .variable import distribute

__all__ = ["DISTRIBUTIONS", "Chosen", "Declaration", "declared", "described"]

_CONTEXT = ("shape", "dims", "drawn")
_COMMON = ("shape", "dims", "name", "like", "dtype")  # of unknowns, or of draws
_NOTHING: Mapping[str, str] = MappingProxyType({})


class Chosen(NamedTuple):
    """A family and its parameters.

    `event` is the shape of one vector or matrix, if the parameters do not determine it.
    """

    family: Family
    parameters: tuple[Any, ...]
    event: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Declaration:
    """A distribution as its function declares it.

    `signature` has the parameters of the distribution alone, `context` the names of the parameters
    that the decorator passes. `draws` is the docstring of the stream method; it is empty if that
    method is written by hand. `same_names` has other libraries' names of parameters, with the names
    here.
    """

    family: Family
    function: Callable[..., Chosen | None]
    signature: Signature
    context: frozenset[str]
    draws: str
    same_names: Mapping[str, str]

    def choose(self, values: tuple[Any, ...], named: dict[str, Any], **context: Any) -> Chosen:
        """The family, its parameters and the event shape for a call."""
        passed = {word: context[word] for word in self.context if word in context}
        chosen = self.function(*values, **named, **passed)
        if chosen is None:
            bound = self.signature.bind(*values, **named)
            bound.apply_defaults()
            chosen = Chosen(self.family, bound.args)
        return chosen


DISTRIBUTIONS: dict[str, Declaration] = {}


def declared(
    family: Family,
    *,
    draws: str = "",
    scipy: str = "",
    aliases: Mapping[str, str] = _NOTHING,
    same: Mapping[str, str] = _NOTHING,
    advice: Mapping[str, str] = _NOTHING,
) -> Callable[[Callable[..., Chosen | None]], Callable[..., Array]]:
    """Declare the distribution of a family by the decorated function.

    Parameters
    ----------
    family
        The family; the main one if there are several parametrisations.
    draws
        The docstring of the stream method, "" if that method is written by hand.
    scipy
        The name of the distribution in `scipy.stats`.
    aliases
        Names in other libraries, separated by spaces, by the arguments with which they agree:
        `{"": "gaussian", "(0, 1)": "stdnormal"}`. They have no capitals and underscores.
    same
        Names of parameters in PyMC, Stan, SciPy or NumPyro, separated by spaces, by the parameters
        here that mean exactly the same: `{"mean": "loc mu"}`. Calls take them as keywords.
    advice
        Parameters of other libraries without an equal here, and the advice for each.

    Raises
    ------
    ValueError
        If a name in `same` is taken.
    """

    def declare(function: Callable[..., Chosen | None]) -> Callable[..., Array]:
        parameters = inspect.signature(function).parameters
        signature = Signature([p for name, p in parameters.items() if name not in _CONTEXT])
        context = frozenset(name for name in _CONTEXT if name in parameters)
        name = function.__name__
        bounds = () if family.tails is None else ("truncation", "censoring")
        taken = (*signature.parameters, *_COMMON, *bounds)
        same_names = _by_word(name, same, taken)
        declaration = Declaration(family, function, signature, context, draws, same_names)
        DISTRIBUTIONS[name] = declaration
        if scipy:
            library_calls.DISTRIBUTIONS[scipy] = name
        for arguments, names in aliases.items():
            ELSEWHERE.update(dict.fromkeys(names.split(), f"here it is kg.{name}{arguments}"))
        OF_CALLS[name] = dict(advice)

        @wraps(function)
        def unknown(
            *values: Any, shape: Any = None, dims: Any = None, name: str | None = None, **named: Any
        ) -> Array:
            named = renamed(same_names, named)
            limits = {word: named.pop(word) for word in bounds if word in named}
            chosen = declaration.choose(values, named, shape=shape, dims=dims, drawn=False)
            return distribute(
                chosen.family,
                chosen.parameters,
                event=chosen.event,
                shape=shape,
                dims=dims,
                name=name,
                **limits,
            )

        types = {**dict.fromkeys(("shape", *bounds, "dims"), Any), "name": str | None}
        common = [
            Parameter(word, Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
            for word, annotation in types.items()
        ]
        shown = Signature([*signature.parameters.values(), *common], return_annotation=Array)
        unknown.same_names = same_names  # type: ignore[attr-defined]
        doc = _documented(function.__doc__ or "", family, same)
        return public(described(unknown, shown, doc))

    return declare


def _by_word(name: str, same: Mapping[str, str], parameters: tuple[str, ...]) -> dict[str, str]:
    """Other libraries' names of parameters, with the names here."""
    pairs = [(word, parameter) for parameter, words in same.items() for word in words.split()]
    same_names = dict(pairs)
    wrong = {*same} - {*parameters} | {*same_names} & {*parameters}
    if wrong or len(same_names) < len(pairs):
        raise ValueError(f"{name}: other names for parameters that clash: {wrong or pairs}")
    return same_names


def described[F: Callable[..., Any]](function: F, signature: Signature, doc: str) -> F:
    """The function with the signature, annotations and docstring that users see."""
    types = {p.name: p.annotation for p in signature.parameters.values()}
    types = {name: kind for name, kind in types.items() if kind is not Parameter.empty}
    types["return"] = signature.return_annotation
    function.__annotations__ = types
    if hasattr(function, "__annotate__"):  # Python 3.14: `functools.wraps` copies this attribute
        function.__annotate__ = lambda form: types
    function.__signature__ = signature  # type: ignore[attr-defined]
    function.__doc__ = doc
    return function


def _documented(doc: str, family: Family, same: Mapping[str, str]) -> str:
    """The docstring with the entries that all distributions have."""
    default = "leading axes are replicates" if family.event_ndim else "default: the parameters'"
    parameters = {
        "shape, dims, name": f"Shape of the unknown ({default}), names of its axes, name in the "
        "results."
    }
    if family.tails is not None:
        bounds = "Pairs of bounds, None where there is none; see `kg.normal`."
        parameters = {"truncation, censoring": bounds} | parameters
    errors = {
        "ValueError": _value_errors(family),
        "ShapeError": "If parameters and shape do not fit together.",
    }
    sections = re.split(r"(?m)^(?=\w+\n-+$)", inspect.cleandoc(doc))
    sections[0] += _other_names(same)
    titles = [section.partition("\n")[0] for section in sections]
    if "Raises" not in titles:
        sections.insert(titles.index("Parameters") + 1, "Raises\n------\n")
    for place, section in enumerate(sections):
        title = section.partition("\n")[0]
        entries = {"Parameters": parameters, "Raises": errors}.get(title, {})
        added = [
            f"{name}\n    {text}"
            for name, text in entries.items()
            if text and not re.search(rf"(?m)^{name}$", section)
        ]
        sections[place] = "\n".join([section.strip(), *added])
    return "\n\n".join(sections) + "\n"


def _other_names(same: Mapping[str, str]) -> str:
    """The paragraph about other libraries' names of parameters."""
    if not same:
        return ""
    texts = []
    for parameter, words in same.items():
        *first, last = (f"`{word}`" for word in words.split())
        texts.append(f"{', '.join(first)}{' or ' * bool(first)}{last} for `{parameter}`")
    return textwrap.fill(f"Other names of parameters: {'; '.join(texts)}.", 98) + "\n"


def _value_errors(family: Family) -> str:
    """The text for ValueError, from the supports of the parameters."""
    names: dict[str, list[str]] = {}
    for parameter in family.parameters:
        if parameter.support is not REAL:
            names.setdefault(parameter.support.describe(), []).append(f"`{parameter.name}`")
    reasons = [f"{' or '.join(same)} is known and not {must}" for must, same in names.items()]
    return f"If {', or '.join(reasons)}." if reasons else ""
