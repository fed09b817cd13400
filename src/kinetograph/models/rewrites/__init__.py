"""Terms of the log density in an equal form that costs less.

Each file has a condition and an identity.

normal_regression   linear normal likelihoods, with the data in a triangular factor
linear_form         nodes read as linear forms
pieces              terms that are the same operations on other unknowns and data
batches, columns    such terms computed as one batch
"""
