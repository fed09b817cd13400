"""Versions and checksums by which runs are compared."""

import platform
from hashlib import sha256

import jax
import jaxlib
import numpy as np

from ..models.model import Model
from ..programs.disk_cache import processor
from ..version import __version__

__all__ = ["data_digests", "digest", "versions"]


def versions() -> dict[str, str]:
    """Versions and hardware on which the last bits of draws depend."""
    device = jax.devices()[0]
    return {
        "kinetograph": __version__,
        "python": platform.python_version(),
        "jax": jax.__version__,
        "jaxlib": jaxlib.__version__,
        "numpy": np.__version__,
        "machine": f"{platform.machine()}, {device.platform}, {device.device_kind}",
        "processor": sha256(processor().encode()).hexdigest()[:16],
    }


def digest(text: str) -> str:
    """The checksum of a text."""
    return sha256(text.encode()).hexdigest()


def data_digests(model: Model) -> dict[str, str]:
    """Checksums of data and of given values of unknowns, by name."""
    return {
        model.name(node): sha256(_bytes(model.value_of(node))).hexdigest()
        for node in (*model.data, *model.fixed)
    }


def _bytes(array: np.ndarray) -> np.ndarray:
    """The bytes of an array, without a copy if possible."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)
