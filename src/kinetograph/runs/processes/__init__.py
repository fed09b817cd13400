"""Runs over several processes, on one host or on many."""
