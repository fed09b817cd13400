"""Graphs as plain text and numbers: what to keep of each object, and the file that holds it."""
