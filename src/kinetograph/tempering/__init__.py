"""Tempering: posteriors reached from the prior, and their evidence."""
