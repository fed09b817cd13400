"""The sampler of a simulation, made from its options."""

from collections.abc import Collection, Mapping
from copy import deepcopy
from importlib import import_module
from typing import Any

from ..graph.source import warn_user
from ..results.advice import SamplingWarning
from ..samplers import EQN, HMC, CCAdL
from .descending import descending, scheduled_rate
from .parameters import ParameterLayout

__all__ = ["SETTINGS", "hyper_values", "make_sampler", "with_settings"]

SETTINGS = {  # options that are hyper-parameters, and the names of the latter
    "step_width": "step_size",
    "inverse_temperature": "inverse_temperature",
    "friction_constant": "friction",
    "hamiltonian_dynamics_time": "n_steps",
}


def hyper_values(sampler: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a sampler's hyper-parameters that are options."""
    values = {
        "step_size": options["step_width"],
        "inverse_temperature": options["inverse_temperature"],
        "friction": options["friction_constant"],
    }
    inner = sampler.sampler if isinstance(sampler, EQN) else sampler
    if isinstance(inner, HMC):
        time = options["hamiltonian_dynamics_time"]
        values["n_steps"] = max(1, round(time / options["step_width"]))
    declared = inner.declared()
    return {name: value for name, value in values.items() if name in declared}


def with_settings(
    options: Mapping[str, Any], chosen: Collection[str]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Options that agree with the settings of a sampler object.

    A chosen option replaces the setting in a copy of the sampler. Other options take the value of
    the setting, if that is one number. Returns the options, and the new settings by the names of
    hyper-parameters.
    """
    options, sampler = dict(options), options["sampler"]
    if isinstance(sampler, str):
        return options, {}
    sampler = deepcopy(sampler)
    inner = sampler.sampler if isinstance(sampler, EQN) else sampler
    declared = hyper_values(inner, options)
    for option, name in SETTINGS.items():
        if name in declared and name != "n_steps" and option not in chosen:
            value = getattr(inner, name)
            options[option] = float(value) if isinstance(value, (int, float)) else options[option]
    values = hyper_values(inner, options)  # the number of steps depends on the step size
    new = {n: values[n] for option, n in SETTINGS.items() if option in chosen and n in values}
    for name, value in new.items():
        setattr(inner, name, value)
    if new:
        options["sampler"] = sampler
    return options, new


def make_sampler(
    role: str, options: Mapping[str, Any], walkers: int, layout: ParameterLayout | None = None
) -> Any:
    """The sampler of a role, "sampling" or "training".

    The layout tells which parameters are a layer; it is needed for covariances in blocks.
    """
    if role == "training":
        rate = scheduled_rate(options["learning_rate"], options["schedule"], options["max_steps"])
        return descending(options["optimizer"], rate)
    given = options["sampler"]
    if isinstance(given, str):
        kind = getattr(import_module("..samplers", __package__), given)
        settings = hyper_values(kind(), options)
        if "thermal_mass" in kind().declared():
            settings["thermal_mass"] = options["thermostat_mass"]
        if "scale" in kind.tunes:  # without a warm-up it would be that of the first gradient
            settings["scale"] = 1.0
        given = kind(**settings)
    if isinstance(given, CCAdL) and options["batch_size"] and options["shuffle"] != "random":
        warn_user(
            f"CCAdL takes the noise of batches for independent, and shuffle={options['shuffle']!r} "
            "makes it anticorrelated: widths would be wrong by several percent; write "
            'shuffle="random"',
            SamplingWarning,
        )
    if options["covariance_blending"] == 0:
        return given
    if walkers < 4 or walkers % 2:
        raise ValueError(
            "covariance_blending: the walkers move in two groups; number_walkers must be even and "
            f"at least 4, got {walkers}"
        )
    structure = options["covariance_structure"]
    return EQN(
        given,
        walkers=walkers,
        eta=options["covariance_blending"],
        steps=options["covariance_after_steps"],
        covariance="blocks" if structure == "block" else structure,
        rank=options["covariance_rank"],
        blocks=layout.layers if structure == "block" and layout is not None else (),
    )
