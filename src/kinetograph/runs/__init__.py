"""Runs of samplers: compiled blocks, threads and devices, progress, results."""
