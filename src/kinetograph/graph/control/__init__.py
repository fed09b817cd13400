"""Branches, loops, batches and states: nodes with subgraphs, and their contexts."""
