"""Data-flow analysis of a function before it is rewritten."""
