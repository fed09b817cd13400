"""Information about the joint block of a model.

The host computes it between two blocks of transitions.
"""

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from ..adaptation.form_choice import restarted
from ..adaptation.joint_choice import UNUSED, WANTED
from ..adaptation.schedule import NEVER
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
        def of_one(state: ChainState, data: Any) -> Any:
            return _information(program, state, data)

        mapped = of_one if batch is None else jax.vmap(of_one, (0, program.data_axes))
        return jax.jit(mapped, compiler_options=options)

    key = "joint information", program.data_axes, batch is None
    information = program.model.functions.get(key, make)(state, tuple(data))
    is_requested = np.asarray(state.hyper["joint"])[..., 0, 0] == WANTED
    hyper: dict[str, Any] = jax.tree.map(np.asarray, dict(state.hyper))
    assert program.centring is not None
    assert program.centring.joint is not None
    places = program.centring.joint.places
    changes = np.broadcast_to(is_requested[..., None], (*is_requested.shape, len(places)))
    metric = jax.tree.map(np.asarray, state.adaptation.metric)
    metric, hyper = restarted(metric, hyper, changes, np.ones(len(places)), places)
    hyper["joint"] = np.where(is_requested[..., None, None], information, hyper["joint"])
    return state._replace(hyper=hyper, adaptation=state.adaptation._replace(metric=metric))


def _information(program: "Program", state: ChainState, data: Any) -> Any:
    centring, adaptation = program.centring, state.adaptation
    assert centring is not None
    assert centring.joint is not None
    assert adaptation.joint is not None
    dtype = state.hyper["joint"].dtype
    information = centring.joint_information(adaptation.joint.centre, program.bound(data))
    unused = jnp.asarray(centring.joint.written, dtype).at[0, 0].set(UNUSED)
    return jnp.where(jnp.all(jnp.isfinite(information)), information.astype(dtype), unused)
