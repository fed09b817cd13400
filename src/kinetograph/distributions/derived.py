"""Derived families by their keys, such as `truncated(normal, lower)`."""

from collections.abc import Callable, Iterator

from ..graph.errors import KinetographError
from ..graph.saving.document import keyed
from .censoring import Censored, censored, interval_censored
from .custom import CUSTOM_FAMILIES, CustomFamily
from .family import FAMILIES, Family
from .increasing import Increasing, increasing
from .joint import Joint, joint
from .mixture import Mixture, mixture, mixture_apart, mixture_of
from .truncation import Truncated, truncated
from .weighting import Weighted, weighted

__all__ = ["family_of"]


def _censored(base: Family, *sides: str) -> Family:
    return interval_censored(base) if sides == ("interval",) else censored(base, sides)


# The function, and how many parts of a key are keys of families (None: all); the rest are words.
MAKERS: dict[str, tuple[Callable[..., Family], int | None]] = {
    "censored": (_censored, 1),
    "increasing": (increasing, 1),
    "joint": (joint, None),
    "mixture": (mixture, None),
    "mixture_apart": (mixture_apart, None),
    "mixture_of": (mixture_of, 1),
    "truncated": (lambda base, *sides: truncated(base, sides), 1),
    "weighted": (weighted, None),
}


def family_of(key: str) -> Family:
    """The family with this key.

    Raises
    ------
    KeyError
        If there is no such family.
    """
    family = FAMILIES.get(key) or CUSTOM_FAMILIES.get(key)
    if family is not None:
        return family
    kind, opened, rest = key.partition("(")
    if not opened or kind not in MAKERS or not rest.endswith(")"):
        raise KeyError(key)
    make, families = MAKERS[kind]
    parts = list(_split(rest[:-1]))
    count = len(parts) if families is None else families
    return make(*map(family_of, parts[:count]), *parts[count:])


def _split(text: str) -> Iterator[str]:
    """Split a text at its outermost commas."""
    depth = start = 0
    for place, letter in enumerate(text):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "," and not depth:
            yield text[start:place].strip()
            start = place + 1
    yield text[start:].strip()


def _written(family: Family) -> str:
    for key, own_family in CUSTOM_FAMILIES.items():
        if key in family.key:
            raise KinetographError(
                f"the distribution {own_family.name} was made by kg.distribution from functions "
                "that exist in this process only, and cannot be written"
            )
    return family.key


for _kind in (CustomFamily, Censored, Increasing, Joint, Mixture, Truncated, Weighted):
    keyed(_kind, _written, family_of)
