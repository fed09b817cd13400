"""Branches, loops, batches and states: nodes with subgraphs, and the contexts that build them."""
