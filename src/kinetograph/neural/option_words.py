"""Words of other libraries for the options of a simulation.

Keywords, `set_options`, assignments, calls with parameters that are options, and the files of
--config take their advice from here. `calls/argument_names.py` has the words.
"""

from collections.abc import Collection
from typing import Any

from ..calls.argument_advice import COMPUTED, OF_CALLS
from ..calls.argument_names import STEPS, WORDS
from ..graph.suggestions import closest, did_you_mean

__all__ = ["advice_on", "option_of", "setting"]

_ADVICE = OF_CALLS["Simulation"]


def advice_on(word: str, names: Collection[str]) -> str:
    """Advice on a word that is not among the names of options."""
    if word in _ADVICE:
        return f"; {_ADVICE[word]}"
    if meanings := _meanings(word, names):
        return f"; here it is called {meanings[0]!r}"
    for name, formula in COMPUTED.get(word, ()):
        if name in names:
            return f"; give {name}={formula}"
    return did_you_mean(word, names) or "; help() lists all options"


def option_of(word: str, names: Collection[str]) -> str | None:
    """The option that a word means, or else the most similar name."""
    meanings = [word] if word in names else _meanings(word, names)
    return meanings[0] if meanings else closest(word, names)


def setting(word: str, names: Collection[str], value: Any = ...) -> str:
    """The call that sets the option that a word means."""
    if word not in names and word in _ADVICE:
        return _ADVICE[word]
    for name, formula in COMPUTED.get(word, ()):
        if name in names:
            return f"write set_options({name}={formula})"
    option, text = option_of(word, names), "..." if value is ... else f"{value!r:.40}"
    return f"write set_options({option}={text})" if option else "help() lists all options"


def _meanings(word: str, names: Collection[str]) -> list[str]:
    """The options that a word of another library means."""
    meanings = ("max_steps", *WORDS.get(word, ())) if word in STEPS else WORDS.get(word, ())
    return [name for name in meanings if name in names]
