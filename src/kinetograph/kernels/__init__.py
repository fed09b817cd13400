"""Kernels: the contract between samplers and runs, `init` and `step`."""
