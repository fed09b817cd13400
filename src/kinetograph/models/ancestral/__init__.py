"""Draws through the graph, parents first.

forward      the order in which unknowns are drawn, and the targets that follow from them
rows         a forward program, compiled and run for many draws
"""
