"""Passes of the conversion: each rewrites one kind of syntax."""
