"""What a call is answered that names a parameter there is not, or gives too many values or too few.

A function is wrapped, which costs a call some tenths of a microsecond: nothing is looked at unless
it raises an error.
"""

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Any, cast

from ..graph.array import Array
from ..graph.source import place_text
from ..graph.suggestions import closest
from ..graph.text import in_words
from .depths import NETTED, retold, shortened
from .flags import check_flags, flags_of
from .words import COMPUTED, OF_CALLS, OF_FUNCTIONS, REMARKS, SETTINGS, WORDS

__all__ = ["ANSWERED", "answered", "no_parameter"]

ANSWERED = "__answers_calls__"  # set on functions that have been wrapped
# Bounds of a distribution that has none as its parameters.
_BOUNDS = {"bounds", "left", "low", "lower", "right", "high", "upper"}
_BOUNDS |= {"trunc", "truncate", "truncated"}
_OF_TARGETS = ("named", "named_targets")  # what takes arrays by any words
_MANY = 12  # parameters, of which the list is left out where one of them is what is meant
_BY_POSITION = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
_BY_NAME = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)


def answered[F: Callable[..., Any]](function: F, title: str, *, bound: bool = False) -> F:
    """The function, which answers calls that do not fit its signature.

    Parameters
    ----------
    function
        What is called.
    title
        What users call it.
    bound
        Whether the first value is the object whose method it is.

    Raises
    ------
    TypeError
        That says what to write.
    """

    flags = flags_of(function)

    @wraps(function)
    def call(*values: Any, **named: Any) -> Any:
        if flags:
            check_flags(title, flags, values, named)
        try:
            return function(*values, **named)
        except NETTED as error:
            made = type(values[0]).__name__ if function.__name__ == "__init__" else title
            answer = _answer(function, made, bound, values, named)
            if answer is None and isinstance(error, TypeError):
                answer = _not_of_targets(function, made, named)
            told = retold(error, function, made, values, named) if answer is None else None
            if answer is None and told is None:
                raise shortened(error)  # noqa: B904  # it is the same error
            if told is not None:
                raise told from error
        raise TypeError(answer)

    setattr(call, ANSWERED, True)
    return cast(F, call)


def _answer(
    function: Callable[..., Any],
    title: str,
    bound: bool,
    values: tuple[Any, ...],
    named: Mapping[str, Any],
) -> str | None:
    """What is wrong with a call; None where the signature allows it."""
    try:
        taken = signature(function)
        taken.bind(*values, **named)
    except TypeError:
        pass
    except ValueError:  # it has none that could be looked at
        return None
    else:  # Python takes a name for one of the rest that can be given by position alone
        if not any(name in named for name in _by_position_alone(taken)):
            return None
    parameters = list(taken.parameters.values())
    kinds = {p.kind for p in parameters}
    own = parameters[1:] if bound else parameters
    given = values[1:] if bound else values
    by_position = [p.name for p in own if p.kind in _BY_POSITION]
    if Parameter.VAR_KEYWORD not in kinds:
        names = _taken_by_name(own)
        for word in named:
            if word not in names:
                rest = next((p.name for p in own if p.kind is Parameter.VAR_POSITIONAL), "")
                return no_parameter(title, word, names, rest)
    else:
        lacking = [p.name for p in _lacking(own, len(given), named)]
        for word in _of_nobody(own, named):
            if word not in lacking and _hint(title, word, lacking):
                return no_parameter(title, word, _taken_by_name(own))
    if Parameter.VAR_POSITIONAL not in kinds and len(given) > len(by_position):
        return _too_many(title, given, by_position, len(own))
    alone = _by_position_alone(taken)
    for name, value in zip(by_position, given, strict=False):
        if name in named and name not in alone:
            return (
                f"{title}: {name} is given twice{place_text()}, as {in_words(value)} by position "
                f"and by name"
            )
    return _missing(title, own, len(given), named)


def _by_position_alone(taken: Signature) -> list[str]:
    return [p.name for p in taken.parameters.values() if p.kind is Parameter.POSITIONAL_ONLY]


def _not_of_targets(
    function: Callable[..., Any], title: str, named: Mapping[str, Any]
) -> str | None:
    """What to say of a word that is a parameter's, nearly, where any word can name an array."""
    try:
        own = list(signature(function).parameters.values())
    except ValueError:
        return None
    if own and own[-1].kind is Parameter.VAR_KEYWORD and own[-1].name in _OF_TARGETS:
        known = _taken_by_name(own)
        for word in _of_nobody(own, named):
            if not isinstance(named[word], Array) and _hint(title, word, known):
                return no_parameter(title, word, known)
    return None


def _taken_by_name(own: list[Parameter]) -> list[str]:
    others = (Parameter.POSITIONAL_ONLY, Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
    return [p.name for p in own if p.kind not in others]


def _of_nobody(own: list[Parameter], named: Mapping[str, Any]) -> list[str]:
    """The words of a call that no parameter has by name."""
    known = _taken_by_name(own)
    return [word for word in named if word not in known]


def no_parameter(title: str, word: str, known: list[str], rest: str = "") -> str:
    """What to say of a keyword that a function does not have; `rest` takes all by position."""
    hint = _hint(title, word, known)
    if rest and rest in (word, *WORDS.get(word, ())):
        hint = f"; the {rest} are given by position, one after the other"
    listed = f"{'' if hint.endswith('?') else '.'} It takes {', '.join(known) or 'nothing'}"
    if hint and len(known) > _MANY:
        listed = ""
    return f"{title}: there is no parameter {word}{place_text()}{hint}{listed}"


def _hint(title: str, word: str, known: list[str]) -> str:
    name = title.rpartition(".")[2]
    if word in OF_CALLS.get(name, {}):
        return f"; {OF_CALLS[name][word]}"
    if word in OF_FUNCTIONS.get(name, {}):
        return f"; here it is called {OF_FUNCTIONS[name][word]}"
    if word in REMARKS and "dims" in known:
        return "; " + REMARKS[word].format(name)
    if word in _BOUNDS and "truncation" in known and not {"min", "max"} & {*known}:
        return "; bounds are given by truncation=(lower, upper), with None where there is none"
    if word == "size" and "shape" in known:
        return "; here it is called shape"
    ours = WORDS.get(word, ())
    here = [p for p in ours if p in known]
    if here:
        return f"; here it is called {here[0]}"
    for own, formula in COMPUTED.get(word, ()):
        if own in known:
            return f"; give {own}={formula}"
    for whose, settings in SETTINGS.items():
        for own in (word, *ours):
            if whose in known and own in settings:
                return f"; it is a setting of the {whose}: {whose}={settings[own]}"
    if word in REMARKS:
        return "; " + REMARKS[word].format("normal")
    near = closest(word, known)
    if near is None and known[:1] == ["free"]:
        return f"; values by name are a dictionary, as in {name}({{{word!r}: 1.0}})"
    return f"; did you mean {near}?" if near else ""


def _too_many(title: str, given: tuple[Any, ...], own: list[str], count: int) -> str:
    texts = [v for v in given if isinstance(v, str)]
    name = title.rpartition(".")[2]
    if texts and own[:1] != ["name"]:
        hint = f"; a name is given by name={texts[0]!r}"
    elif len(given) == len(own) + 1 and _is_zero(given[0]) and own[:1] in _FROM_ZERO:
        rest = ", ".join(in_words(v).removeprefix("the number ") for v in given[1:])
        hint = f"; it begins at 0 always: write {name}({rest})"
    else:
        hint = "; all else is given by keyword" if count > len(own) else ""
    taken = " and ".join([", ".join(own[:-1]), own[-1]]) if own[1:] else "".join(own) or "nothing"
    values = "1 value" if len(given) == 1 else f"{len(given)} values"
    return f"{title}: takes {taken} by position, got {values}{place_text()}{hint}"


_FROM_ZERO = (["sd"], ["scale"], ["rate"])


def _is_zero(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value == 0


def _lacking(own: list[Parameter], count: int, named: Mapping[str, Any]) -> list[Parameter]:
    """The parameters that have no value yet, and need one."""
    lacking, place = [], 0
    for p in own:
        if p.kind in _BY_POSITION:
            place += 1
            if place <= count:
                continue
        variadic = p.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
        given = p.name in named and p.kind is not Parameter.POSITIONAL_ONLY
        if not variadic and p.default is Signature.empty and not given:
            lacking.append(p)
    return lacking


def _missing(title: str, own: list[Parameter], count: int, named: Mapping[str, Any]) -> str | None:
    lacking = [p.name for p in _lacking(own, count, named)]
    own = [p for p in own if p.kind is not Parameter.VAR_KEYWORD]
    if not lacking:
        return None
    words = "parameter" if len(lacking) == 1 else "parameters"
    verb = "is" if len(lacking) == 1 else "are"
    takes = f"; it takes {', '.join(p.name for p in own)}" if len(own) <= _MANY else ""
    if any(name in named for name in lacking):
        takes = "; it is given by position, as the first value"
    return f"{title}: the {words} {' and '.join(lacking)} {verb} missing{place_text()}{takes}"
