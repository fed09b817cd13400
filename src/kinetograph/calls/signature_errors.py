"""Error messages for calls that do not fit a function's signature.

They name an unknown argument, missing arguments or surplus values, and say what to write. The
decorator `public` calls `answer` if a public function raises an error.
"""

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from inspect import Parameter, Signature, signature
from typing import Any

from ..graph.array import Array
from ..graph.hooks import ON_ERROR
from ..graph.source import is_own, place_text
from ..graph.suggestions import closest, did_you_mean
from ..graph.value_texts import brief, in_words
from .argument_advice import (
    COMPUTED,
    OF_CALLS,
    OF_CLASSES,
    OF_COUNTS,
    OF_MISSING,
    OF_SURPLUS,
    REMARKS,
    SETTINGS,
)
from .argument_names import WORDS
from .library_errors import retold, shortened
from .model_arguments import exchanged_arguments, is_model, model_first, name_in_model
from .same_names import renamed, same_names_of, with_given_names

__all__ = ["answer", "check_options", "no_parameter"]

# Words for the bounds of a distribution; they mean `truncation=` unless it has parameters for them.
_BOUNDS = {"bounds", "left", "low", "lower", "right", "high", "upper"}
_BOUNDS |= {"trunc", "truncate", "truncated"}
_OF_TARGETS = ("named", "named_targets")  # variadic parameters that take arrays under any name
_MAKERS = ("formula", "model", "observe")  # of models, which other libraries run in the same call
_ROOT = __name__.partition(".")[0]
_MANY = 12  # longer lists of parameters are left out where a hint names the right one
_BY_POSITION = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


@ON_ERROR.fill
def answer(
    error: Exception,
    function: Callable[..., Any],
    title: str,
    bound: bool,
    values: tuple[Any, ...],
    named: Mapping[str, Any],
) -> Exception | str:
    """The error of a public call, or the message of a TypeError.

    An error is unchanged if kinetograph itself makes the call, which belongs to another public
    call.
    """
    name = type(values[0]).__name__ if function.__name__ == "__init__" else title
    same_names = same_names_of(function)
    given = {same_names[word]: word for word in named if word in same_names}
    try:
        named = renamed(same_names, named)
    except TypeError as twice:
        return f"{name}: {twice}{place_text()}; give one of them"
    message = _answer(function, name, bound, values, named)
    if message is None and isinstance(error, TypeError):
        message = exchanged_arguments(function, name, values)
    if message is None and isinstance(error, TypeError) and values:
        message = model_first(function, name, values, named)
    if message is None and isinstance(error, TypeError):
        message = _not_of_targets(function, name, named)
    if message is not None:
        return with_given_names(message, given)
    if not bound and _is_inner_call(error, function):
        return error
    replacement = retold(error, function, name, values, named) or shortened(error)
    if given and replacement.args and type(replacement.args[0]) is str:
        text = with_given_names(replacement.args[0], given)
        replacement.args = (text, *replacement.args[1:])
    return replacement


def _is_inner_call(error: Exception, function: Callable[..., Any]) -> bool:
    """Whether code of kinetograph that names the function called it."""
    wrapper = error.__traceback__
    caller = None if wrapper is None else wrapper.tb_frame.f_back
    if caller is None or not is_own(caller.f_code.co_filename):
        return False
    names, values = caller.f_code.co_names, caller.f_globals
    return function.__name__ in names or any(
        getattr(values.get(name), "__wrapped__", None) is function for name in names
    )


def _answer(
    function: Callable[..., Any],
    title: str,
    bound: bool,
    values: tuple[Any, ...],
    named: Mapping[str, Any],
) -> str | None:
    """The message for a wrong call; None for a fitting call."""
    try:
        expected = signature(function)
        expected.bind(*values, **named)
    except TypeError:
        pass
    except ValueError:  # the function has no signature, as some C functions
        return None
    else:  # the name of a positional-only parameter may have been collected by **
        if not any(name in named for name in _positional_only(expected)):
            return None
    if function.__name__ == "__init__" and title in OF_CLASSES:
        return f"{title}: this class is not called{place_text()}; {OF_CLASSES[title]}"
    parameters = list(expected.parameters.values())
    kinds = {p.kind for p in parameters}
    call_parameters = parameters[1:] if bound else parameters
    positional = values[1:] if bound else values
    by_position = [p.name for p in call_parameters if p.kind in _BY_POSITION]
    if Parameter.VAR_KEYWORD not in kinds:
        names = _taken_by_name(call_parameters)
        for word in named:
            if word not in names:
                if answer := _of_count(title, word, named[word]):
                    return answer
                advice = _of_object(values[0], function, word, ()) if bound else ""
                if advice and not _hint(title, word, names):
                    return f"{title}: unknown parameter {word}{place_text()}; {advice}"
                if (whole := name_in_model(word, positional)) is not None:
                    return f"{title}: unknown parameter {word}{place_text()}; {whole}"
                variadic = next(
                    (p.name for p in call_parameters if p.kind is Parameter.VAR_POSITIONAL), ""
                )
                return no_parameter(title, word, names, variadic, same_names_of(function))
    else:
        missing = [p.name for p in _missing_parameters(call_parameters, len(positional), named)]
        for word in _unknown_words(call_parameters, named):
            if answer := _of_count(title, word, named[word]):
                return answer
            if word not in missing and _hint(title, word, missing):
                return no_parameter(title, word, _taken_by_name(call_parameters))
    if Parameter.VAR_POSITIONAL not in kinds and len(positional) > len(by_position):
        if bound and (advice := _of_object(values[0], function, "", positional)):
            count = f"{len(positional)} value{'s' * (len(positional) > 1)}"
            return f"{title}: got {count} by position{place_text()}; {advice}"
        return _too_many(title, positional, by_position, [p.name for p in call_parameters])
    positional_only = _positional_only(expected)
    for name, value in zip(by_position, positional, strict=False):
        if name in named and name not in positional_only:
            following = [n for n in by_position[len(positional) :] if n not in named][:1]
            way = "".join(f"; if it is {n}, write {n}={value!r:.40}" for n in following)
            way *= isinstance(value, (int, float))
            if isinstance(value, str) and "name" in expected.parameters and name != "name":
                way = f"; a name is given by name={value!r:.40}"
            return (
                f"{title}: {name} is given twice{place_text()}, as {in_words(value)} by position "
                f"and by name{way}"
            )
    return _missing(title, call_parameters, positional, named)


def _of_object(
    holder: Any, function: Callable[..., Any], word: str, values: tuple[Any, ...]
) -> str:
    """Advice of an object on a wrong call of its method.

    `word` is the unknown keyword, and `values` are too many values. A class gives the advice by a
    method `_advice_on_call`.
    """
    advise = getattr(type(holder), "_advice_on_call", None)
    return "" if advise is None else str(advise(holder, function.__name__, word, values))


def _positional_only(call_signature: Signature) -> list[str]:
    return [
        p.name for p in call_signature.parameters.values() if p.kind is Parameter.POSITIONAL_ONLY
    ]


def _not_of_targets(
    function: Callable[..., Any], title: str, named: Mapping[str, Any]
) -> str | None:
    """The message for a misspelt parameter of a function of targets.

    Such a function takes arrays under any name, so a misspelt parameter looks like the name of an
    array. None if no keyword resembles a parameter.
    """
    try:
        parameters = list(signature(function).parameters.values())
    except ValueError:
        return None
    if (
        parameters
        and parameters[-1].kind is Parameter.VAR_KEYWORD
        and parameters[-1].name in _OF_TARGETS
    ):
        names = _taken_by_name(parameters)
        for word in _unknown_words(parameters, named):
            if answer := _of_count(title, word, named[word]):
                return answer
            if not isinstance(named[word], Array) and _hint(title, word, names):
                return no_parameter(title, word, names)
    return None


def _of_count(title: str, word: str, value: Any) -> str | None:
    """The message for a number of draws, where a function takes none."""
    if title not in OF_COUNTS or type(value) is not int:
        return None
    if "draws" not in (word, *WORDS.get(word, ())):
        return None
    return f"{title}: unknown parameter {word}{place_text()}; {OF_COUNTS[title]}"


def _taken_by_name(parameters: list[Parameter]) -> list[str]:
    excluded = (Parameter.POSITIONAL_ONLY, Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
    return [p.name for p in parameters if p.kind not in excluded]


def _unknown_words(parameters: list[Parameter], named: Mapping[str, Any]) -> list[str]:
    """The keywords of a call that no parameter has."""
    names = _taken_by_name(parameters)
    return [word for word in named if word not in names]


def no_parameter(
    title: str,
    word: str,
    names: list[str],
    variadic: str = "",
    same_names: Iterable[str] = (),
) -> str:
    """The message for a keyword that a function does not have.

    `names` are the keywords that the function takes, and `variadic` is the name of its parameter
    for any number of positional values. `same_names` are other names of its parameters.
    """
    hint = _hint(title, word, names) or did_you_mean(word, same_names, str)
    if variadic and variadic in (word, *WORDS.get(word, ())):
        hint = f"; the {variadic} are given by position, one after the other"
    listed = f"{'' if hint.endswith('?') else '.'} It takes {', '.join(names) or 'nothing'}"
    if hint and len(names) > _MANY:
        listed = ""
    return f"{title}: unknown parameter {word}{place_text()}{hint}{listed}"


def check_options(
    title: str, options: Iterable[str], function: Callable[..., Any], inner: Callable[..., Any]
) -> None:
    """Raise TypeError for an option that neither function takes.

    `function` has the name `title`; it passes its options on to `inner`.
    """
    parameters = [signature(f).parameters.values() for f in (function, inner)]
    names = list(dict.fromkeys(n for each in parameters for n in _taken_by_name(list(each))))
    for word in options:
        if word not in names:
            raise TypeError(no_parameter(title, word, names))


def _hint(title: str, word: str, names: list[str]) -> str:
    """Advice on an unknown keyword of a call, or an empty text."""
    name = title.rpartition(".")[2]
    if word in OF_CALLS.get(name, {}):
        return f"; {OF_CALLS[name][word]}"
    if word in REMARKS and "dims" in names:
        return "; " + REMARKS[word].format(name)
    if word in _BOUNDS and "truncation" in names and not {"min", "max"} & {*names}:
        return "; bounds are given by truncation=(lower, upper), with None where there is none"
    if word == "size" and "shape" in names:
        return "; here it is called shape"
    meanings = WORDS.get(word, ())
    matches = [p for p in meanings if p in names]
    if matches:
        return f"; here it is called {matches[0]}"
    for parameter, formula in COMPUTED.get(word, ()):
        if parameter in names:
            return f"; give {parameter}={formula}"
    for owner, settings in SETTINGS.items():
        for setting in (word, *meanings):
            if owner in names and setting in settings:
                return f"; it is a setting of the {owner}: {owner}={settings[setting]}"
    if name in _MAKERS:
        if word in OF_CALLS["mcmc"]:
            return f"; it belongs to kg.mcmc(model): {OF_CALLS['mcmc'][word]}"
        options = signature(import_module(_ROOT).mcmc).parameters
        for option in (word, *meanings):
            if option in options:
                return f"; it is an option of the run: kg.mcmc(model, {option}=...)"
            if option in SETTINGS["sampler"]:
                setting = SETTINGS["sampler"][option]
                return f"; it is a setting of the sampler: kg.mcmc(model, sampler={setting})"
    if word in REMARKS:
        return "; " + REMARKS[word].format("normal")
    near = closest(word, names)
    if near is None and names[:1] == ["free"]:
        return f"; give values by name as a dictionary, as in {name}({{{word!r}: 1.0}})"
    return f"; did you mean {near}?" if near else ""


def _too_many(
    title: str, positional: tuple[Any, ...], names: list[str], parameters: list[str]
) -> str:
    """The message for a call with too many positional values."""
    texts = [v for v in positional if isinstance(v, str)]
    name = title.rpartition(".")[2]
    if name in OF_SURPLUS:
        hint = f"; {OF_SURPLUS[name]}"
    elif texts and names[:1] != ["name"]:
        word = next((w for w in ("var_name", "name") if w in parameters), None)
        given_by = f"; a name is given by {word}={texts[0]!r}"
        hint = given_by if word else f"; {name} takes no name: leave out {texts[0]!r}"
        hint = f"; write kind={texts[0]!r}" if "kind" in parameters else hint
    elif len(positional) == len(names) + 1 and _is_zero(positional[0]) and names[:1] in _FROM_ZERO:
        remaining = ", ".join(brief(v) for v in positional[1:])
        reason = _WITH_MEAN_ZERO.get(name, "its support always begins at 0")
        hint = f"; {reason}: write {name}({remaining})"
    elif len(positional) == 3 and names[:1] == ["df"] and _is_zero(positional[1]):
        hint = f"; its support always begins at 0: write {name}({brief(positional[0])}, "
        hint += f"{brief(positional[2])})"
    else:
        hint = "; give the other arguments by keyword" if len(parameters) > len(names) else ""
        last = positional[-1]
        if len(positional) == len(names) + 1 and isinstance(last, (int, tuple)):
            hint += f", as in shape={last!r}" if "shape" in parameters else ""
    expected = (
        " and ".join([", ".join(names[:-1]), names[-1]])
        if names[1:]
        else "".join(names) or "nothing"
    )
    values = "1 value" if len(positional) == 1 else f"{len(positional)} values"
    return f"{title}: takes {expected} by position, got {values}{place_text()}{hint}"


_FROM_ZERO = (["sd"], ["scale"], ["rate"])
_WITH_MEAN_ZERO = {
    "random_walk": "the mean of a step is drift=, by default 0",
    "zero_sum_normal": "the mean is always 0",
}


def _is_zero(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value == 0


def _missing_parameters(
    parameters: list[Parameter], count: int, named: Mapping[str, Any]
) -> list[Parameter]:
    """The required parameters without a value.

    `count` is the number of positional values.
    """
    missing, position = [], 0
    for p in parameters:
        if p.kind in _BY_POSITION:
            position += 1
            if position <= count:
                continue
        variadic = p.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
        by_name = p.name in named and p.kind is not Parameter.POSITIONAL_ONLY
        if not variadic and p.default is Signature.empty and not by_name:
            missing.append(p)
    return missing


def _missing(
    title: str, parameters: list[Parameter], values: tuple[Any, ...], named: Mapping[str, Any]
) -> str | None:
    missing = [p.name for p in _missing_parameters(parameters, len(values), named)]
    parameters = [p for p in parameters if p.kind is not Parameter.VAR_KEYWORD]
    if not missing:
        return None
    words = "parameter" if len(missing) == 1 else "parameters"
    verb = "is" if len(missing) == 1 else "are"
    takes = (
        f"; it takes {', '.join(p.name for p in parameters)}" if len(parameters) <= _MANY else ""
    )
    if title in OF_MISSING and missing != ["X"]:  # a method of the same name takes rows X
        takes = f"; {OF_MISSING[title]}"
    first = values[0] if values else None
    if missing == ["results"] and is_model(first) and title not in OF_MISSING:
        takes = f"; write kg.{title}(model, results) with the results of kg.mcmc(model)"
    if missing == ["results"] and hasattr(first, "subtree"):
        return f"{title}: the model is missing{place_text()}; write kg.{title}(model, results)"
    if "shape" in named and (
        shape_parameters := [n for n in missing if n in WORDS.get("shape", ())]
    ):
        takes = (
            f"; shape= is the shape of the array, and the shape parameter of {title} is "
            f"{shape_parameters[0]}: write {shape_parameters[0]}={brief(named['shape'])}"
        )
    if any(name in named for name in missing):
        takes = "; it is given by position, as the first value"
    return f"{title}: the {words} {' and '.join(missing)} {verb} missing{place_text()}{takes}"
