"""Unknowns, observations, and the model they make."""
