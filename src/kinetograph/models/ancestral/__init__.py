"""Draws through the graph, parents first.

forward      which unknowns are drawn, in which order, and how targets follow from them
rows         a forward program, compiled and run for many draws
"""
