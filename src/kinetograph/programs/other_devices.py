"""Executables for several devices of one kind.

A program is compiled for one device. The executable is then loaded for the other devices, which
takes a fraction of the time, and runs the same machine code there, so that results have the same
bits on each device.
"""

import io
from typing import Any

import jax
import numpy as np
from jax.experimental import serialize_executable
from jax.extend.backend import get_compile_options

__all__ = ["default_device", "load_for"]


def default_device() -> Any:
    """The device that JAX uses if none is given."""
    configured = jax.config.jax_default_device
    return configured if isinstance(configured, jax.Device) else jax.local_devices()[0]


def load_for(device: Any, serialised: bytes, in_tree: Any, out_tree: Any) -> Any:
    """Load an executable for a device; the other arguments are from `serialize`.

    JAX's own function loads it only for the device for which it was compiled.
    """
    unpickler = _Unpickler(io.BytesIO(serialised), device.client, [device])
    unloaded, arguments, no_kwargs = unpickler.load()
    information = in_tree.unflatten(arguments)
    return jax.stages.Compiled(unloaded.load(), [], information, out_tree, no_kwargs=no_kwargs)


class _Unpickler(serialize_executable._JaxPjrtUnpickler):
    """Replaces the device for which an executable was compiled."""

    def persistent_load(self, pid: Any) -> Any:
        (device,) = self.devices_by_id.values()
        if pid[0] == "device":
            return device
        if pid[0] == "exec":
            options = get_compile_options(
                num_replicas=1, num_partitions=1, device_assignment=np.array([[device.id]])
            )
            return self.backend.deserialize_executable(
                pid[1], executable_devices=self.execution_devices, compile_options=options
            )
        return super().persistent_load(pid)
