"""Which hyper-parameters warm-up tunes: a sampler's own, and those of samplers within it.

Within, a step size is tuned to the `target_acceptance` of its own sampler, and scales to the draws,
unless they are given or those of the sampler around are in use: where that one is given scales,
tunes them, or moves an ensemble. What is a function of the step's number is left as it is.
"""

from collections.abc import Iterator
from typing import Any

__all__ = ["tuned_names"]


def tuned_names(sampler: Any) -> tuple[str, ...]:
    """The names, `inner.step_size` of what is within."""
    return (*sampler.tune, *_within(sampler, False))


def _within(sampler: Any, scaled: bool) -> Iterator[str]:
    """Those of samplers within one; `scaled`: they do not have scales of their own."""
    scaled |= sampler.scale is not None or "scale" in sampler.tune or sampler.walkers is not None
    for name, inner in sampler._inner().items():
        for what in inner.tune:
            if what == "scale":
                free = not scaled and inner.scale is None
            else:
                free = not any(callable(inner._values[n]) for n in (what, "target_acceptance"))
            if free:
                yield f"{name}.{what}"
        yield from (f"{name}.{deeper}" for deeper in _within(inner, scaled))
