"""NumPy's and SciPy's functions on arrays, through NumPy's protocols."""
