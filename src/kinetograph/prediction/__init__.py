"""What a model says of what is not observed: draws and values through its graph.

forward      which unknowns are drawn, in which order, and how targets follow from them
rows         a forward program, compiled and run for many draws
recorded     what results know of a model's arrays
simulate     draws of the prior and of data
predict      draws of data from a posterior
pointwise    log densities of observations and unknowns, one by one
calculate    values of any arrays, given values, draws or results
"""
