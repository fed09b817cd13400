"""Models from formulas and data frames, `kg.formula`.

texts        a formula, split into its parts
columns      columns of data frames, and errors that name column and row
design       design matrices, by formulaic
population   an intercept and coefficients
groups       effects that vary between groups
smooths      penalised splines and Gaussian processes
splines      the bases of penalised splines
by           the argument `by=` of smooth terms
monotonic    monotonic effects
offset       known terms
predictor    the sum of these terms
families     families of the response
links        links of their parameters
response     the response and its likelihood
priors       default priors, by the rules of bambi and brms
unknowns     the unknowns, with their priors
scope        variables of the caller in formulas
encoding     rows of data as the distribution of the response
model        `kg.formula`

The room needs packages that kinetograph itself does not need: install `kinetograph[formula]`.
"""

from ..graph.public import public_package as _public_package

try:
    import formulaic as _formulaic
except ModuleNotFoundError as _error:
    raise ImportError("kg.formula needs formulaic: pip install 'kinetograph[formula]'") from _error

from .model import FormulaModel

__all__ = ["FormulaModel"]

_public_package(__name__)
