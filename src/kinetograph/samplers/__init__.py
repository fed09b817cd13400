"""Samplers: one a file, with its equations and reference at the top."""

from .nuts import NUTS

__all__ = ["NUTS"]
