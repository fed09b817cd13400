"""Errors that help with wrong calls of public functions.

`graph/public.py` calls them by hooks.

same_names         argument names of other libraries that calls take
argument_names     argument names of other libraries, with the name here
argument_advice    advice for arguments that have no name here
other_libraries    function names of other libraries, with the name here
name_errors        errors for public names that do not exist
submodules         errors for submodules of NumPy, SciPy and JAX
signature_errors   errors for calls that do not fit a signature
library_errors     errors of libraries, with the public function, its arguments and the user's line
"""

from . import name_errors, signature_errors
