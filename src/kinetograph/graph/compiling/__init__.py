"""Compilation of a graph to a function, and calls of the function."""
