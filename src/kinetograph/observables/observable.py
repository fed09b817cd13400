"""Observables: a name and a function of a step's values."""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Never

from ..graph.array import Array
from ..graph.errors import ModelError
from ..graph.public import public
from ..graph.source import place_text
from ..graph.value_texts import in_words

__all__ = ["Observable", "Step", "as_observables", "check_observables", "observable"]


class Step(NamedTuple):
    """The values at the end of a step, as arrays.

    q, potential, gradient   the position on the free scale, U at q, and the gradient of U
    slots                    the sampler's slots, by name
    hyper                    the sampler's hyper-parameters, by name; of a schedule, the value at
                             this step
    recorded                 the values that the sampler recorded in this step, by name
    parts                    each unknown's part of q, by name
    """

    q: Array
    potential: Array
    gradient: Array
    slots: Mapping[str, Array]
    hyper: Mapping[str, Array]
    recorded: Mapping[str, Array]
    parts: Mapping[str, Array]


class NamedObservable(dict[str, Array]):
    """Arrays by name; a missing name raises ModelError."""

    def __init__(self, values: Mapping[str, Array], label: str, kind: str) -> None:
        super().__init__(values)
        self._label, self._kind = label, kind

    def __missing__(self, name: str) -> Never:
        owner = "model" if self._kind == "unknown" else "sampler"
        names_text = ", ".join(self) or "none"
        raise ModelError(
            f"{self._label}: this {owner} has no {self._kind} {name!r} (it has {names_text})"
        )


class Observable(NamedTuple):
    """A quantity of a step; made by `kg.observables.observable`."""

    name: str
    function: Callable[[Step], Any]
    text: str


@public
def observable(function: Callable[[Step], Any], name: str | None = None) -> Observable:
    """Make an observable of a function of the values of a step.

    Parameters
    ----------
    function
        A function in plain Python on arrays. It takes a `kg.observables.Step`, with `q`,
        `potential`, `gradient`, `slots`, `hyper`, `recorded` and `parts`, and returns a number or
        an array.
    name
        The name of the observable; by default the function's name.

    Raises
    ------
    ValueError
        If the name is not an identifier.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.normal(0.0, 1.0, shape=3, name="x")
    >>> @kg.observables.observable
    ... def radius(step):
    ...     return kg.sqrt(kg.sum(step.q * step.q))
    >>> tree = kg.mcmc(kg.model(x), observables=[radius], seed=1, progress=False)
    >>> tree["sample_stats"]["radius"].dims
    ('chain', 'draw')
    """
    if not callable(function):
        raise TypeError(f"observable: expected a function, got {function!r}")
    title = str(name or getattr(function, "__name__", ""))
    if not title.isidentifier():
        raise ValueError(
            "observable: a function without a name needs one: "
            f"kg.observables.observable(function, name='...'), an identifier; got {title!r}"
        )
    return Observable(title, function, (function.__doc__ or "").strip().split("\n")[0])


_EXPECTED = "give the observable, a function of a step or, for averages, the array itself"


def listed(given: Any, title: str) -> list[Any]:
    """The items of an iterable; raises TypeError for anything else."""
    if isinstance(given, Iterable):
        return list(given)
    raise TypeError(f"{title}: expected a list, got {in_words(given)}{place_text()}; {_EXPECTED}")


def as_observables(given: Any, title: str = "observables") -> tuple[Observable, ...]:
    """The observables of a list of observables and functions.

    Raises
    ------
    TypeError, ValueError
        If an item is neither, or two observables have the same name.
    """
    single = isinstance(given, (Observable, str)) or callable(given)
    items = [given] if single else listed(given, title)
    named = vars(sys.modules[__package__]).get("__all__", ())
    for item in items:
        if isinstance(item, str):
            advice = f"give the observable, kg.observables.{item}" if item in named else _EXPECTED
            raise TypeError(f"{title}: {item!r} is a string; {advice}")
    result = [item if isinstance(item, Observable) else observable(item) for item in items]
    check_observables(result, title)
    return tuple(result)


def check_observables(given: Sequence[Observable], title: str) -> None:
    """Refuse repeated names, and names that results use for something else."""
    names = [item.name for item in given]
    for name in names:
        if name in ("lp", "batch_lp", "step_size", "chain", "draw"):
            raise ValueError(f"{title}: the name {name!r} is reserved in results; choose another")
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{title}: {name!r} is given twice")
