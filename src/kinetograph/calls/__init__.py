"""Errors that help with wrong calls of public functions.

words       argument names of other libraries, with the name here
elsewhere   function names of other libraries, with the name here
names       errors for public names that do not exist
submodules  errors for submodules of NumPy, SciPy and JAX
answers     errors for calls that do not fit a signature
flags       errors for texts where True or False is expected
depths      errors of libraries, with the public function, its arguments and the user's line
public      adds these errors to all public functions, classes and modules
"""
