"""What a model says of what is not observed: draws and values through its graph.

naming       how quantities are called
recorded     what results know of a model's arrays
observed     which distributions observed data follow
simulate     draws of the prior and of data
predict      draws of data from a posterior
pointwise    log densities of observations and unknowns, one by one
groups       values as groups of results
calibration  ranks of simulated unknowns in the posteriors of simulated data
calculate    values of any arrays, given values, draws or results
"""
