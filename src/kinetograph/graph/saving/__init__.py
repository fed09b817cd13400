"""Saving and loading of graphs, as JSON and arrays in a file."""
