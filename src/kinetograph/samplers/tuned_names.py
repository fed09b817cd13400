"""The hyper-parameters that warm-up tunes, in a sampler and its inner samplers.

The step size of an inner sampler is tuned to the `target_acceptance` of that sampler, and its
scales to the draws. Its scales are not tuned if they are given, or if the outer sampler has given
scales, tunes its scales or moves an ensemble. Schedules are not tuned.
"""

from collections.abc import Iterator
from typing import Any

__all__ = ["tuned_names"]


def tuned_names(sampler: Any) -> tuple[str, ...]:
    """The names of the tuned hyper-parameters, inner ones as `inner.step_size`."""
    return (*sampler.tune, *_within(sampler, False))


def _within(sampler: Any, scaled: bool) -> Iterator[str]:
    """The names for inner samplers; `scaled`: an outer sampler sets their scales."""
    scaled |= sampler.scale is not None or "scale" in sampler.tune or sampler.walkers is not None
    for name, inner in sampler._inner().items():
        for tuned in inner.tune:
            if tuned == "scale":
                is_tuned = not scaled and inner.scale is None
            else:
                is_tuned = not any(callable(inner._values[n]) for n in (tuned, "target_acceptance"))
            if is_tuned:
                yield f"{name}.{tuned}"
        yield from (f"{name}.{inner_name}" for inner_name in _within(inner, scaled))
