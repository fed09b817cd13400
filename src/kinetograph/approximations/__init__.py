"""Normal approximations of a posterior in the space of the free state.

advi         variational inference by stochastic gradients of the evidence lower bound
ascent       compiled blocks of steps for `advi`, and its stopping rule
laplace      the normal distribution at the mode
pathfinder   mixtures of normal distributions found on optimisation paths
paths        single paths of `pathfinder`
curvature    inverse Hessians from the steps of a path
low_rank     normal and Student distributions with low-rank covariances
pool         weighted draws of mixtures of distributions
pareto       Pareto-smoothed importance weights
resampling   resampled draws, and warnings about bad approximations
results      results trees of approximations
"""
