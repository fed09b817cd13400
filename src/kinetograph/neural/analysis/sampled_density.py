"""The inverse temperature and the potential of a sampled density exp(-beta U).

Run files have both, in the columns beta and potential. Results of `kg.mcmc` have the inverse
temperature among the settings of the sampler, and minus the potential as `lp`.
"""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...graph.errors import KinetographWarning
from ...graph.source import warn_user
from .inputs import positive

__all__ = [
    "check_sampled",
    "inverse_temperature_of",
    "potential_of",
    "settings_temperature",
    "warn_of_batches",
]

_SAME = 1e-6  # relative; files have nine digits, and a float32 has seven


def inverse_temperature_of(given: Any, records: Mapping[str, np.ndarray]) -> float:
    """The inverse temperature of the rows.

    It is the record beta, or the given value without this record, or else 1.

    Raises
    ------
    ValueError
        If the record changes within the rows, or differs from the given value.
    """
    if given is not None:
        positive(given, "Analysis", "inverse_temperature")
    beta = np.asarray(records.get("beta", ()), float)
    beta = beta[np.isfinite(beta)]  # optimisers have none
    if not beta.size:
        return 1.0 if given is None else float(given)
    low, high = float(beta.min()), float(beta.max())
    if high - low > _SAME * high:
        raise ValueError(
            f"Analysis: the inverse temperature changes within the rows, the record beta is "
            f"between {low:g} and {high:g}; use rows of one temperature only: drop= leaves out "
            "rows at the start; or write a file for each temperature"
        )
    if given is not None and abs(given - high) > _SAME * high:
        raise ValueError(
            f"Analysis: got inverse_temperature={given:g}, but the record beta of the rows is "
            f"{high:g}; leave inverse_temperature out: it is the temperature that was sampled, "
            "and at_temperature takes another temperature"
        )
    return high


def check_sampled(title: str, records: Mapping[str, np.ndarray]) -> None:
    """Refuse records of training.

    Optimisers have no temperature, and their rows are not draws of a density.
    """
    beta = np.asarray(records.get("beta", ()), float)
    if beta.size and not np.isfinite(beta).any():
        raise ValueError(
            f"{title}: the rows are steps of training, not draws of exp(-beta U): the record beta "
            "is not finite in any of them; give the records of sample()"
        )


def potential_of(
    given: str | None, records: dict[str, np.ndarray]
) -> tuple[str, dict[str, np.ndarray]]:
    """The name of the potential's record, and the records with it.

    By default it is the record `potential`, or total_energy - kinetic_energy.
    """
    if given is not None:
        return given, records
    if "potential" not in records and {"total_energy", "kinetic_energy"} <= records.keys():
        potential = records["total_energy"] - records["kinetic_energy"]
        return "potential", records | {"potential": potential}
    return "potential", records


def settings_temperature(attributes: Mapping[str, Any]) -> float | None:
    """The inverse temperature of a sampler's settings, if it is a number."""
    try:
        value = json.loads(attributes["sampler_settings"])["inverse_temperature"]
    except (KeyError, TypeError, ValueError):
        return None
    return float(value) if isinstance(value, (int, float)) else None


def warn_of_batches(title: str, records: Mapping[str, np.ndarray]) -> None:
    """Warn if the potentials are values on mini-batches.

    An epoch then has several steps.
    """
    steps, epochs = (records.get(name, np.zeros(0)) for name in ("step", "epoch"))
    if steps.size and steps.shape == epochs.shape and not np.array_equal(steps, epochs):
        warn_user(
            f"{title}: the potentials of the rows are estimates on mini-batches, so results of "
            "them are noisy and biased; compute potentials on all rows of data, for example by "
            "simulation.landscape.potential, and write Analysis(draws, {'potential': values})",
            KinetographWarning,
        )
