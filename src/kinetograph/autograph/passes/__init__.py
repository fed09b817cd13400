"""The steps from a function's syntax tree to the one that is compiled, in the order of `transform.py`."""
