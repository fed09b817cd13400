"""Terms of the log density in another form that costs less: each file a condition and an identity.

normal_regression   the data of a linear normal likelihood in a triangular factor
linear_form         nodes read as linear forms
"""
