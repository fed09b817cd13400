"""Finite discrete unknowns, marginalised in the density and drawn afterwards.

owners       the element of an unknown that each element of a computed array depends on
domains      the values that a discrete unknown can have
tables       the terms that depend on discrete unknowns, for all values of these
cuts         comparisons of known values with discrete unknowns, and the cases of their rows
cut_tables   cumulative sums of terms that depend on discrete unknowns through such comparisons
joined_terms alike terms of single unknowns, as terms of arrays
joined_stacks stacks of single unknowns, as arrays
lifted       single unknowns that are eliminated side by side, or as a chain
addends      a sum of terms, taken apart
elimination  marginalisation of one unknown after the other, and draws in the reverse order
marginal     the term of the density that results
pointwise    marginal densities of single observations
"""
