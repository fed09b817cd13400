"""What an error of converted code has to tell: what, of which variable, where; nothing of ours."""

import inspect
import re

import pytest

import kinetograph as kg

_OURS = re.compile(
    r"get_state|set_state|(if|else|loop)_body|loop_test|extra_test|retval_|do_return|break_|"
    r"continue_|\bitr\b|ag__|operand\b|for_stmt|while_stmt|if_stmt|Undefined\("
)


def line_of(function, mark):
    """The number of the line of a function that has a comment `# mark`."""
    lines, first = inspect.getsourcelines(function)
    (place,) = [i for i, line in enumerate(lines) if line.rstrip().endswith("# " + mark)]
    return first + place


def refusal(error, function, kind, *gists, at="here"):
    """Check an error; return its text."""
    assert isinstance(error, kind), f"{type(error).__name__}: {error}"
    text = str(error)
    told = text.split(f"{type(error).__name__}: ")[-1]
    for gist in gists:
        assert re.search(gist, told), f"{gist!r} is not in: {text}"
    if at:
        file = re.escape(inspect.getsourcefile(function).rsplit("/", 1)[-1])
        place = rf"{file}:{line_of(function, at)}\b"
        assert re.search(place, text), f"{place!r} is not in: {text}"
    assert not _OURS.search(text), f"internal name in: {text}"
    return text


def refused(kind, function, arguments, *gists, at="here", **options):
    """Check the error of a staged call; return its text."""
    with pytest.raises(kind) as caught:
        kg.function(function, **options)(*arguments)
    return refusal(caught.value, function, kind, *gists, at=at)
