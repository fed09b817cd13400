"""`kg.distributed`: this process becomes one of several that run chains together."""

import math
import os
from typing import Any

import jax
import numpy as np
from jax._src import xla_bridge
from jax._src.clusters import ClusterEnv

from ...graph.errors import KinetographError
from ...graph.public import public
from ...graph.source import place_text
from ...graph.value_texts import shown
from .channel import Channel
from .meeting import connected, parsed

__all__ = ["channel", "distributed", "process_count"]

HOW = 'kg.distributed("host:1234", processes=2, process=0)'
_CHANNELS: list[Channel] = []  # the one of this process, once it has begun


def channel() -> Channel | None:
    """The connections of this process; None if it runs chains alone."""
    return _CHANNELS[0] if _CHANNELS else None


def process_count() -> int:
    """The number of processes that run chains together."""
    here = channel()
    return 1 if here is None else here.count


@public
def distributed(
    address: str | None = None,
    processes: int | None = None,
    process: int | None = None,
    *,
    timeout: float = 60.0,
) -> int:
    """Divide the chains of a script over several processes or hosts.

    Write `kg.distributed()` as the first line after the imports, and start the script several
    times, as `srun python script.py` does. Each process then runs a part of the chains of
    `kg.mcmc`, `kg.extra_samples` and `kg.resume`, and all processes get the same results: the draws
    of a run in one process, to the last bit. Before a run the processes compare model, data, seed,
    settings and versions. All other functions do all of their work in each process.

    Parameters
    ----------
    address
        Host and port at which process 0 listens, such as "10.0.0.1:1234" or "node7:1234". By
        default JAX reads the address and the numbers from Slurm, Open MPI, Kubernetes or a TPU pod.
    processes
        The number of processes.
    process
        The number of this process, from 0 to `processes - 1`.
    timeout
        Seconds that a process waits for the other processes: until they have connected, until they
        have reached the same call, and for a sign of life.

    Returns
    -------
    int
        The number of this process. Process 0 shows progress and warnings, and is the one to write
        files and figures.

    Raises
    ------
    ValueError
        If a number is out of its range, or the address is not a host and a port.
    KinetographError
        If the address or a number is neither given nor in the environment, if process 0 does not
        answer, if a process is missing, or if the function is called again.

    Examples
    --------
    >>> import kinetograph as kg
    >>> kg.distributed(processes=1)
    0
    """
    if _CHANNELS:
        before = _CHANNELS[0]
        raise KinetographError(
            f"distributed: this process is process {before.number} of {before.count} already"
            f"{place_text()}; call kg.distributed() once, at the top of the script"
        )
    _check(address, processes, process, timeout)
    devices: Any = None
    if processes != 1 and None in (address, processes, process):
        address, processes, process, devices = _detected(address, processes, process, timeout)
    count = 1 if processes is None else int(processes)
    number = 0 if process is None else int(process)
    if number >= count:
        raise ValueError(
            f"distributed: process={number} of processes={count}{place_text()}; processes are "
            f"numbered from 0 to {count - 1}"
        )
    if devices is not None:
        _take_devices(devices)
    parts = parsed(address)
    if count > 1:
        assert parts is not None
        peers = connected(parts, number, count, float(timeout))
        _CHANNELS.append(Channel(number, count, float(timeout), peers))
    return number


def _check(address: Any, processes: Any, process: Any, timeout: Any) -> None:
    for name, value, least in (("processes", processes, 1), ("process", process, 0)):
        is_whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
        if value is not None and not (is_whole and value >= least):
            raise ValueError(
                f"distributed: {name} must be a whole number of at least {least}, got "
                f"{shown(value)}{place_text()}"
            )
    if address is not None and parsed(address) is None:
        raise ValueError(
            f"distributed: address must be a host and a port, such as 'node7:1234', got "
            f"{shown(address)}{place_text()}"
        )
    is_number = isinstance(timeout, (int, float, np.number)) and not isinstance(timeout, bool)
    if not (is_number and math.isfinite(timeout) and timeout > 0):
        raise ValueError(
            f"distributed: timeout must be a positive number of seconds, got {shown(timeout)}"
            f"{place_text()}"
        )


def _detected(
    address: Any, processes: Any, process: Any, timeout: float
) -> tuple[str, int, int, Any]:
    """Address and numbers from the environment, where they are not given."""
    reason = ""
    devices: Any = None
    try:
        address, processes, process, devices = ClusterEnv.auto_detect_unset_distributed_params(
            address, processes, process, None, None, math.ceil(timeout)
        )
    except Exception as error:
        reason = f" ({type(error).__name__}: {error})"
    by_name = {"address": address, "processes": processes, "process": process}
    missing = [name for name, value in by_name.items() if value is None]
    if missing:
        raise KinetographError(
            f"distributed: {', '.join(missing)} must be given{place_text()}: JAX finds no job of "
            f"Slurm, Open MPI or Kubernetes in the environment{reason}; start the script by srun "
            f"or mpirun, or give all three in each process, as in {HOW}"
        )
    if parsed(address) is None:
        raise KinetographError(
            f"distributed: the address in the environment, {shown(address)}, is not a host and a "
            f"port; give it, as in {HOW}"
        )
    return str(address), int(processes), int(process), devices


def _take_devices(devices: Any) -> None:
    """Use one accelerator of a host that several processes share."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", "0,1")
    if len(visible.split(",")) < 2 or xla_bridge.backends_are_initialized():
        return
    for name in ("jax_cuda_visible_devices", "jax_rocm_visible_devices"):
        jax.config.update(name, ",".join(map(str, devices)))
