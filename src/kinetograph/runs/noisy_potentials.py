"""Samplers that compare values of a noisy potential."""

from typing import Any

from ..graph.source import warn_user
from ..results.advice import SamplingWarning

__all__ = ["warn_of_noise"]


def warn_of_noise(program: Any, doing: str) -> None:
    """Refuse a sampler that compares noisy potentials, or warn.

    The potential of a model with mini-batches is an estimate. The model may allow such a sampler.
    Other noise of the potential, such as dropout, gives a warning for any sampler.
    """
    if program.check_noise(doing):
        name = type(program.sampler).__name__
        warn_user(
            f"{doing}: {name} compares values of a potential that a batch of rows only estimates: "
            "its draws differ from the posterior by an unknown amount",
            SamplingWarning,
        )
    batch = program.model.batch
    if batch is not None and batch.noise is not None and not program.sampler.optimizes:
        warn_user(
            f"{doing}: {batch.noise} makes the potential random in each step of "
            f"{type(program.sampler).__name__}: its draws differ from the posterior by an unknown "
            f"amount; write {batch.noise}=None for sampling",
            SamplingWarning,
        )
