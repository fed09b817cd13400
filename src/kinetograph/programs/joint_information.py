"""Information about the joint block of a model.

The host computes it between two blocks of transitions.
"""

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from ..adaptation.joint_choice import UNUSED, WANTED
from ..adaptation.schedule import NEVER, restarted
from .state import ChainState

if TYPE_CHECKING:
    from .program import Program

__all__ = ["at_start", "informed", "is_asked", "is_in_use"]


def at_start(state: ChainState) -> ChainState:
    """A chain or batch that asks for information at its starting points.

    Chains with information do not ask, and neither do idle chains, which have no warm-up.
    """
    joint = state.adaptation.joint
    if joint is None or np.all(state.transition):
        return state
    information, tried = np.array(state.hyper["joint"]), np.asarray(joint.tried)
    first = information[..., 0, 0]
    asks = (np.asarray(state.transition) == 0) & (first < 0) & ~tried
    asks &= np.asarray(state.phases.late) > 0
    if not asks.any():
        return state
    information[..., 0, 0] = np.where(asks, WANTED, first)
    centre = np.where(asks[..., None], state.position.q, joint.centre)
    joint = joint._replace(centre=centre, tried=tried | asks)
    return state._replace(
        hyper=dict(state.hyper) | {"joint": information},
        adaptation=state.adaptation._replace(joint=joint),
    )


def is_asked(state: ChainState) -> bool:
    """Whether a chain asks for information."""
    return bool(np.any(_flags(state) == WANTED))


def is_in_use(state: ChainState) -> bool:
    """Whether a chain moves in the coordinates of the joint block.

    Of a batch, the chain counts that is farthest behind.
    """
    in_use = np.ravel(_flags(state) >= 0)
    if in_use.all() or not in_use.any():
        return bool(in_use.any())
    transition = np.asarray(state.transition)
    left = transition < np.asarray(state.phases.stop)
    return bool(in_use[np.argmin(np.where(left, transition, NEVER))])


def _flags(state: ChainState) -> np.ndarray:
    information = state.hyper.get("joint")
    return np.empty(0) if information is None else np.asarray(information)[..., 0, 0]


def informed(
    program: "Program",
    state: ChainState,
    data: Any,
    batch: int | None,
    options: dict[str, Any] | None = None,
) -> ChainState:
    """The state of a chain or batch with the information it wants.

    The tuning of the metric begins again. Information that is not finite is not used. `options` are
    compiler options.
    """

    def make() -> Any:
        def of_one(state: ChainState, data: Any) -> ChainState:
            return _informed(program, state, data)

        mapped = of_one if batch is None else jax.vmap(of_one, (0, program.data_axes))
        return jax.jit(mapped, compiler_options=options)

    key = "joint information", program.data_axes, batch is None
    answer: ChainState = program.model.functions.get(key, make)(state, tuple(data))
    return answer


def _informed(program: "Program", state: ChainState, data: Any) -> ChainState:
    centring, hyper, adaptation = program.centring, state.hyper, state.adaptation
    assert centring is not None
    assert centring.joint is not None
    assert adaptation.joint is not None
    before = hyper["joint"]
    asked = before[0, 0] == WANTED
    found = centring.joint_information(adaptation.joint.centre, program.bound(data))
    unused = jnp.asarray(centring.joint.written, before.dtype).at[0, 0].set(UNUSED)
    new = jnp.where(jnp.all(jnp.isfinite(found)), found.astype(before.dtype), unused)
    hyper = hyper | {"joint": jnp.where(asked, new, before)}
    changes = jnp.broadcast_to(asked, len(centring.joint.places))
    metric, hyper = restarted(
        adaptation.metric, hyper, changes, jnp.ones_like(changes, float), centring.joint.places
    )
    return state._replace(hyper=hyper, adaptation=adaptation._replace(metric=metric))
