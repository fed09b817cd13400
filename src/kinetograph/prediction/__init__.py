"""Computed quantities of a model: simulations, predictions and pointwise log densities.

naming        names of the requested quantities
recorded      draws of a model's arrays, read from results
observed      the distributions that observed data follow
simulate      draws from the prior, and simulated data
predict       draws of data from a posterior
pointwise     log densities of single observations and unknowns
groups        values as groups of a results tree
current_data  results whose data groups hold the model's current data
calibration   ranks of simulated unknowns in the posteriors of simulated data
calculate     values of any arrays, given values, draws or results
"""
