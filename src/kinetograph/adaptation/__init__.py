"""Warm-up: the step size, the metric, and the schedule of their tuning."""
