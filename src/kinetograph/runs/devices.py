"""The division of the chains of a run over JAX's devices.

On threads each device runs one chain at a time. As a batch, the chains are divided into batches of
equal size, one for each device. The last bits of the draws depend on this size, so it is recorded
in the results; they do not depend on the number of devices.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import jax
import numpy as np

from ..graph.source import place_text
from ..graph.suggestions import did_you_mean
from ..graph.value_texts import shown
from ..programs.other_devices import default_device
from .processes.distributed import process_count

__all__ = ["CHAINS_PER_BATCH", "Devices", "Division", "devices_of", "division"]

CHAINS_PER_BATCH = "chains_per_batch"  # the attribute of results
ALL = "all"

type Devices = int | Literal["all"] | list[Any] | tuple[Any, ...] | None


@dataclass(frozen=True)
class Division:
    """A division of chains into batches and over devices."""

    batch: int | None = None  # the number of chains of a batch; None for single chains
    devices: tuple[Any, ...] = ()  # empty: JAX's default device

    @property
    def attributes(self) -> dict[str, int]:
        """The attributes of results by which the run can be continued."""
        return {} if self.batch is None else {CHAINS_PER_BATCH: self.batch}

    def at_once(self, chains: int, threads: int) -> int:
        """The number of chains that advance at once."""
        if self.batch is None:
            return min(chains, len(self.devices) or threads)
        return min(chains, self.batch * max(len(self.devices), 1))


def division(
    doing: str,
    method: str,
    chains: int,
    devices: tuple[Any, ...],
    threads: Any,
    earlier: Mapping[str, Any] | None = None,
) -> Division:
    """Divide chains over devices.

    `earlier` are the attributes of the results that the run continues: its batches keep their size.
    Several processes have as many devices each.

    Raises
    ------
    ValueError
        If a number of threads is given for several devices.
    """
    is_default = devices == (default_device(),)
    if method == "batch":
        size = -(-chains // (len(devices) * process_count()))
        if earlier is not None:
            size = int(earlier.get(CHAINS_PER_BATCH, chains))
        return Division(size, () if is_default else devices[: -(-chains // size)])
    if is_default:
        return Division()
    if threads is not None:
        raise ValueError(
            f"{doing}: each device is used by one thread, so threads={threads} has no effect"
            f"{place_text()}; leave out threads= or devices="
        )
    return Division(None, devices[:chains])


def devices_of(doing: str, given: Any) -> tuple[Any, ...]:
    """The devices of a run, by default JAX's default device.

    Raises
    ------
    TypeError
        If `given` is not a number, "all", or a list of devices.
    ValueError
        If there are fewer devices, or devices of a list cannot run one program.
    """
    available = jax.local_devices()
    if given is None:
        return (default_device(),)
    if isinstance(given, str) and given == ALL:
        return tuple(available)
    if isinstance(given, (int, np.integer)) and not isinstance(given, bool):
        if given < 1:
            raise ValueError(
                f"{doing}: devices must be at least 1, got {given}{place_text()}; leave it out for "
                "JAX's default device"
            )
        if given > len(available):
            raise ValueError(
                f"{doing}: devices={given}, but JAX has {_counted(available)}{place_text()}; give "
                f'devices="all", or a number up to {len(available)}{_on_processors(int(given))}'
            )
        return tuple(available[: int(given)])
    if not isinstance(given, (list, tuple, np.ndarray)):
        hint = did_you_mean(given, [ALL]) if isinstance(given, str) else ""
        raise TypeError(
            f'{doing}: devices must be a number, "all", or a list of JAX devices, got '
            f"{shown(given)}{hint}{place_text()}; JAX has {_counted(available)}"
        )
    return _of_list(doing, list(given), available)


def _of_list(doing: str, given: list[Any], available: list[Any]) -> tuple[Any, ...]:
    """Devices from a list."""
    if not given:
        raise ValueError(
            f"{doing}: devices is an empty list{place_text()}; give at least one of "
            f"{_names(available)}, or leave it out for JAX's default device"
        )
    for device in given:
        if not isinstance(device, jax.Device):
            raise TypeError(
                f"{doing}: devices has {shown(device)}, which is not a JAX device{place_text()}; "
                "give devices such as jax.devices()[0]"
            )
    platform = jax.default_backend()
    other_devices = [device for device in given if device.platform != available[0].platform]
    if other_devices:
        other = other_devices[0].platform
        raise ValueError(
            f"{doing}: devices has {_names(other_devices)}, of the platform {other}, and JAX's "
            f"default platform is {platform}{place_text()}; give devices of {platform}, or set the "
            f"environment variable JAX_PLATFORMS={other} before JAX is imported"
        )
    if far := [device for device in given if device not in available]:
        raise ValueError(
            f"{doing}: devices has {_names(far)}, which belong to another process{place_text()}; "
            f"this process has {_names(available)}"
        )
    if twice := {device for device in given if given.count(device) > 1}:
        raise ValueError(
            f"{doing}: devices has {_names(list(twice))} more than once{place_text()}; give each "
            "device once"
        )
    kinds = dict.fromkeys(device.device_kind for device in given)
    if len(kinds) > 1:
        raise ValueError(
            f"{doing}: devices are of the kinds {', '.join(kinds)}{place_text()}, and one program "
            "runs on devices of one kind; give devices of one of them"
        )
    return tuple(given)


def _counted(devices: list[Any]) -> str:
    count = "1 device" if len(devices) == 1 else f"{len(devices)} devices"
    return f"{count} ({_names(devices)})"


def _names(devices: list[Any]) -> str:
    names = [str(device) for device in devices]
    return ", ".join(names if len(names) <= 8 else [*names[:7], f"... {names[-1]}"])


def _on_processors(count: int) -> str:
    if jax.default_backend() != "cpu":
        return ""
    return (
        ". On a processor chains run on threads, and need no devices; for tests, "
        f"XLA_FLAGS=--xla_force_host_platform_device_count={count}, set before JAX is imported, "
        "divides it"
    )
