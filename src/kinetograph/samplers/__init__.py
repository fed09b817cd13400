"""Samplers: one a file, with its equations and reference at the top."""

from .nuts import NUTS
from .slice import Slice

__all__ = ["NUTS", "Slice"]
