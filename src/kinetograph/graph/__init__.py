"""Nodes, arrays, operations, compilation and inspection of the graph."""
