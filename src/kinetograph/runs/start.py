"""What to say when chains find no start."""

from collections.abc import Sequence

import numpy as np

from ..graph.errors import StartError
from ..models.model import Model
from ..models.starts import START_ATTEMPTS, blame
from .chains import Chain

__all__ = ["explain_failure"]


def explain_failure(model: Model, chains: Sequence[Chain], given: bool) -> StartError:
    """The error for chains that found no starting point, naming what is not finite."""
    failed = [i for i, chain in enumerate(chains) if chain.failed]
    state = chains[failed[0]].state
    assert state is not None
    which = f"chain {failed[0]}" if len(failed) == 1 else f"{len(failed)} of {len(chains)} chains"
    how = (
        "the given initial point has no finite log density or gradient"
        if given
        else f"no finite log density and gradient in {START_ATTEMPTS} random starting points"
    )
    at = np.asarray(state.position.q)
    return StartError("\n".join([f"{which}: {how}.", *blame(model, at)]))
