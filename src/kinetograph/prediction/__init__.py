"""Computed quantities of a model: simulations, predictions and pointwise log densities.

target_names            names of the requested quantities
recorded_draws          draws of a model's arrays, read from results
discrete_draws          posterior draws of discrete unknowns that a run has not recorded
observed_distributions  the distributions that observed data follow
simulate                draws from the prior, and simulated data
predict                 draws of data from a posterior
pointwise               log densities of single observations and unknowns
predicted_groups        values as groups of a results tree
current_data            results whose data groups hold the model's current data
calibration             ranks of simulated unknowns in the posteriors of simulated data
observations            the observations that a cross-validation leaves out, in units
masked_model            a model whose observations can be left out without another program
refits                  refits without some observations, as one run
loo, kfold              cross-validation
left_out                densities of observations that are left out, from draws of two posteriors
compare                 models compared by cross-validation
comparison              the table of `kg.compare`
elpd                    results of cross-validations, by arviz-stats
calculate               values of any arrays, given values, draws or results
"""
