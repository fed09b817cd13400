"""Running samplers: blocks, threads and devices, progress, results."""
