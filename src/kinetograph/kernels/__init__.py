"""Transitions: the one contract between samplers and runs, `init(at)` and `step(state)`."""
