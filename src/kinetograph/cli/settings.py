"""Options with special values: samplers and settings, draws, chains."""

import ast
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import click
from click.shell_completion import CompletionItem

from ..graph.suggestions import did_you_mean
from .errors import InputError

__all__ = ["SAMPLERS", "ChainsType", "DrawsType", "SamplerName", "make_sampler", "make_until"]

# Listed here, because importing the samplers takes a second, which is too long for completion.
SAMPLERS = (
    "BAOAB", "CCAdL", "DifferentialEvolution", "EQN", "GHMC", "GLA1", "GLA2", "HMC", "LM", "MALA",
    "MAMS", "MCLMC", "MEADS", "NUTS", "RandomWalk", "SGHMC", "SGLD", "SGNHT", "Slice", "Splitting",
    "Stretch", "UBU", "Walk",
)  # fmt: skip
ENDLESS = "none"


class SamplerName(click.ParamType):
    """The name of one of `kg.samplers`, in upper or lower case."""

    name = "name"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name with the correct case."""
        names = {each.lower(): each for each in SAMPLERS}
        if value.lower() in names:
            return names[value.lower()]
        hint = did_you_mean(value, SAMPLERS, str) or "."
        name, bracket, _ = value.partition("(")
        if bracket and name.lower() in names:
            self.fail(
                f"{value!r} is a call; write --sampler {names[name.lower()]}, and settings as "
                "--set target_acceptance=0.9"
            )
        self.fail(f"unknown sampler {value!r}{hint} The samplers are {', '.join(SAMPLERS)}")

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """The names that begin with the incomplete text."""
        prefix = incomplete.lower()
        return [CompletionItem(each) for each in SAMPLERS if each.lower().startswith(prefix)]


class DrawsType(click.IntRange):
    """A number of draws, or `none`."""

    name = "integer or none"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number, or the word `none`."""
        if isinstance(value, str) and value.lower() == ENDLESS:
            return ENDLESS
        return super().convert(value, param, ctx)


class ChainsType(click.IntRange):
    """A number of chains, or a range.

    `4:8` is the chains 4, 5, 6 and 7."""

    name = "integer or range"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number, or the range."""
        if isinstance(value, str) and ":" in value:
            first, _, end = value.partition(":")
            if not (first.isdigit() and end.isdigit() and int(first) < int(end)):
                self.fail(f"{value!r} is not a range of chains, such as 4:8", param, ctx)
            return range(int(first), int(end))
        return super().convert(value, param, ctx)


def parsed(texts: Sequence[str]) -> dict[str, Any]:
    """The settings given as `key=value`.

    Values are Python literals; a single word is a string.
    """
    settings: dict[str, Any] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        key = key.strip()
        if not equals or not key.isidentifier():
            raise InputError(f"--set {text}: write it as key=value, such as step_size=0.1")
        if key in settings:
            raise InputError(f"--set {text}: {key} is given twice")
        try:
            settings[key] = ast.literal_eval(value.strip())
        except (ValueError, SyntaxError) as error:
            if not value.strip().replace("-", "_").isidentifier():
                raise InputError(
                    f"--set {text}: {value!r} is not a Python literal, such as 0.1, True, 'text'"
                ) from error
            settings[key] = value.strip()
    return settings


def make_sampler(name: str | None, texts: Sequence[str]) -> Any:
    """The requested sampler; None for the default."""
    if name is None and not texts:
        return None
    settings = parsed(texts)
    samplers = import_module("..samplers", __package__)
    try:
        return getattr(samplers, name or "NUTS")(**settings)
    except (TypeError, ValueError) as error:
        from ..graph.source import place_text

        message = str(error).replace(
            place_text(), ""
        )  # the place is a line of the command's parser
        raise InputError(f"{message} (--sampler, --set)") from error


def make_until(ess: float | None, r_hat: float | None) -> Any:
    """The condition that ends a run; None if no limit is given."""
    limits = {"ess": ess, "r_hat": r_hat}
    given = {name: value for name, value in limits.items() if value is not None}
    if not given:
        return None
    from ..runs.until import until

    try:
        return until(**given)
    except ValueError as error:
        raise InputError(str(error)) from error
