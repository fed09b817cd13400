"""The host's choice of coordinates between two blocks of warm-up.

The compiled program adds draws and slopes to moments. At some transitions (`windows`) the host
judges the moments. New coordinates begin a new metric.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..kernels.directions import Directions
from .schedule import Adaptation, Warmup
from .windows import blank, where_chains

__all__ = ["choose_forms", "restarted"]


def choose_forms(
    warmup: Warmup, adaptation: Adaptation, hyper: Mapping[str, Any], transition: Any
) -> tuple[Adaptation, dict[str, Any]]:
    """The state of warm-up and the hyper-parameters with new coordinates.

    Chains are stacked; `transition` has the number of transitions of each.
    """
    hyper, metric = dict(hyper), adaptation.metric
    _, _, _, centring, vectors, joint, _ = adaptation
    with np.errstate(all="ignore"):
        if centring is not None:
            places, alone = warmup.places, _alone(warmup, warmup.places, hyper)
            c = hyper["centring"][..., places]
            centring, chosen, scale, changes, least = centring.judged(
                c, warmup.parts, transition, alone, warmup.tails
            )
            hyper["centring"] = _placed(chosen, places, hyper["centring"])
            metric, hyper = restarted(metric, hyper, changes, scale, places)
        if vectors is not None:
            places, alone = warmup.vector_places, _alone(warmup, warmup.vector_places, hyper)
            vectors, hyper["information"], scale, changes = vectors.judged(
                hyper["information"], warmup.vector_parts, transition, alone
            )
            metric, hyper = restarted(metric, hyper, changes, scale, places)
        if joint is not None:
            places = warmup.joint_places
            of_forms = np.full((*np.shape(transition), len(places)), np.inf)
            if centring is not None:
                has_coordinates = warmup.joint_forms >= 0
                of_forms[..., has_coordinates] = least[..., warmup.joint_forms[has_coordinates]]
            joint, hyper["joint"], scale, back = joint.judged(hyper["joint"], of_forms, transition)
            changes = np.broadcast_to(back[..., None], of_forms.shape)
            metric, hyper = restarted(metric, hyper, changes, scale, places)
    chosen = {"metric": metric, "centring": centring, "vectors": vectors, "joint": joint}
    return adaptation._replace(**chosen), hyper


def _alone(warmup: Warmup, places: np.ndarray, hyper: Mapping[str, Any]) -> Any:
    """Whether free numbers move alone, not in a joint block."""
    if warmup.joint_places is None:
        return np.bool_(True)
    in_use = np.asarray(hyper["joint"])[..., 0, 0] >= 0
    return ~(np.isin(places, warmup.joint_places) & in_use[..., None])


def _placed(new: Any, places: np.ndarray, vectors: Any) -> np.ndarray:
    """The vectors of stacked chains with new values in places."""
    vectors = np.array(vectors)
    vectors[..., places] = new
    return vectors


def restarted(
    metric: Any, hyper: Mapping[str, Any], changes: Any, scale: Any, places: np.ndarray
) -> tuple[Any, dict[str, Any]]:
    """The metric of stacked chains, which begins again after a change.

    Elements whose form has changed have new scales.
    """
    any_change, scales = np.any(changes, -1), np.asarray(hyper["scale"])
    metric = where_chains(any_change, blank(metric), metric)
    scale = np.where(changes & np.isfinite(scale), scale, scales[..., places])
    hyper = dict(hyper) | {"scale": _placed(scale, places, scales)}
    if "directions" in hyper:
        old = hyper["directions"]
        most, size = np.shape(old.vectors)[-2:]
        none = Directions.none(most, size, scales.dtype)
        hyper["directions"] = where_chains(any_change, none, old)
    return metric, hyper
