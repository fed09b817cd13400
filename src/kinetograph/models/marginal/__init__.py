"""Finite discrete unknowns, summed out of the density and drawn again afterwards.

owners       which element of an unknown each element of a computed array depends on
tables       the terms that depend on discrete unknowns, for all their values
elimination  one unknown after the other summed out of the tables, and drawn in the reverse order
pointwise    the same for observations one by one
"""
