"""Messages for calls with a model or its names in wrong places."""

from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any

from ..graph.source import place_text

__all__ = ["exchanged_arguments", "is_model", "model_first", "name_in_model"]


def name_in_model(word: str, values: tuple[Any, ...]) -> str | None:
    """Advice on a keyword that is a name in the model."""
    for model in filter(is_model, values[:1]):
        if word in map(model.name, model.data):
            return f"{word} is data of the model: write model.set_data({word}=...) before the call"
        if word in model.names:
            return f"{word} is an unknown of the model: kg.do(model, {word}=...) gives it a value"
    return None


def model_first(
    function: Callable[..., Any], title: str, values: tuple[Any, ...], named: Mapping[str, Any]
) -> str | None:
    """The message for a model behind other arguments, or None."""
    expected = [*signature(function).parameters]
    if is_model(values[0]) or not any(map(is_model, values)) or expected[:1] != ["model"]:
        return None
    arguments = [value for value in values if not is_model(value)]
    texts = ["model"]
    for value in arguments:
        kinds = ["k", "draws"] if isinstance(value, int) else ["sampler"] * _is_a(value, "Sampler")
        kind = next((kind for kind in kinds if kind in expected), "")
        texts.append(f"{kind}={value}" if type(value) is int else kind or "...")
    texts += [f"{name}={value if type(value) is int else '...'}" for name, value in named.items()]
    return f"{title}: the model comes first{place_text()}; write kg.{title}({', '.join(texts)})"


def exchanged_arguments(
    function: Callable[..., Any], title: str, values: tuple[Any, ...]
) -> str | None:
    """The message for an exchanged model and results, or None."""
    kinds = ["results" if hasattr(v, "subtree") else is_model(v) and "model" for v in values[:2]]
    if {*kinds} != {"model", "results"}:
        return None
    names = [*signature(function).parameters][:2]
    expected = ["results" if name == "tree" else name for name in names]
    if expected != kinds[::-1]:
        return None
    return (
        f"{title}: the arguments are the wrong way round{place_text()}; write "
        f"kg.{title}({', '.join(expected)})"
    )


def is_model(value: Any) -> bool:
    return _is_a(value, "Model")


def _is_a(value: Any, kind: str) -> bool:
    return any(base.__name__ == kind for base in type(value).__mro__)
