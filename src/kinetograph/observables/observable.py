"""What an observable is: a name, and a function of a step's values."""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Never

from ..graph.array import Array
from ..graph.errors import ModelError
from ..graph.source import place_text
from ..graph.text import in_words

__all__ = ["Observable", "Step", "as_observables", "check_observables", "observable"]


class Step(NamedTuple):
    """The values at the end of a step, as arrays.

    q, potential, gradient   the position on the free scale, U there, and its gradient
    slots                    the sampler's slots, by name
    hyper                    its hyper-parameters, by name; of a schedule, the value at this step
    recorded                 what the sampler recorded in this step, by name
    parts                    the pieces of q that belong to each unknown
    """

    q: Array
    potential: Array
    gradient: Array
    slots: Mapping[str, Array]
    hyper: Mapping[str, Array]
    recorded: Mapping[str, Array]
    parts: Mapping[str, Array]


class Named(dict[str, Array]):
    """Arrays by name; asked for one that there is not, it says who asks and what there is."""

    def __init__(self, values: Mapping[str, Array], who: str, kind: str) -> None:
        super().__init__(values)
        self._who, self._kind = who, kind

    def __missing__(self, name: str) -> Never:
        owner = "model" if self._kind == "unknown" else "sampler"
        known = ", ".join(self) or "none"
        raise ModelError(f"{self._who}: this {owner} has no {self._kind} {name!r} (it has {known})")


class Observable(NamedTuple):
    """A quantity of a step; made by `kg.observables.observable`."""

    name: str
    function: Callable[[Step], Any]
    text: str


def observable(function: Callable[[Step], Any], name: str | None = None) -> Observable:
    """A user's own observable: a function of the values of a step, in plain Python on arrays.

    Parameters
    ----------
    function
        Takes a `kg.observables.Step`, with `q`, `potential`, `gradient`, `slots`, `hyper`,
        `recorded` and `parts`; gives a number or an array.
    name
        By default the function's.

    Raises
    ------
    ValueError
        If the name is no word.

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
        raise TypeError(f"observable: a function is expected, got {function!r}")
    title = str(name or getattr(function, "__name__", ""))
    if not title.isidentifier():
        raise ValueError(
            "observable: a function without a name needs one: "
            f"kg.observables.observable(function, name='...'), a word; got {title!r}"
        )
    return Observable(title, function, (function.__doc__ or "").strip().split("\n")[0])


_EXPECTED = "give the observable, a function of a step or, for averages, the array itself"


def listed(given: Any, what: str) -> list[Any]:
    """What is given in a list."""
    if isinstance(given, Iterable):
        return list(given)
    raise TypeError(f"{what}: expected a list, got {in_words(given)}{place_text()}; {_EXPECTED}")


def as_observables(given: Any, what: str = "observables") -> tuple[Observable, ...]:
    """Observables from a list of them and of functions; refuses two of one name."""
    single = isinstance(given, (Observable, str)) or callable(given)
    items = [given] if single else listed(given, what)
    named = vars(sys.modules[__package__]).get("__all__", ())
    for item in items:
        if isinstance(item, str):
            known = f"give the observable, kg.observables.{item}" if item in named else _EXPECTED
            raise TypeError(f"{what}: {item!r} is a text; {known}")
    found = [item if isinstance(item, Observable) else observable(item) for item in items]
    check_observables(found, what)
    return tuple(found)


def check_observables(given: Sequence[Observable], what: str) -> None:
    """Refuse observables of one name, and names that results use otherwise."""
    names = [item.name for item in given]
    for name in names:
        if name in ("lp", "batch_lp", "step_size", "chain", "draw"):
            raise ValueError(f"{what}: {name!r} is what results call something else")
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{what}: {name!r} is given twice")
