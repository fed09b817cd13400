"""Warm-up: step size, metric, and when each is set."""
