"""Finite discrete unknowns, marginalised in the density and drawn afterwards.

owners       the element of an unknown that each element of a computed array depends on
tables       the terms that depend on discrete unknowns, for all values of these
addends      a sum of terms, taken apart
elimination  marginalisation of one unknown after the other, and draws in the reverse order
marginal     the term of the density that results
pointwise    marginal densities of single observations
"""
