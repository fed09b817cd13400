"""Autograph: Python control flow on arrays becomes control flow of the graph.

definition, transform    find, rewrite and compile a function
analysis                 variables that are read, bound and live at each point
passes                   the steps of the rewriting, one file each
operators                the functions that rewritten code calls, `ag__`
convert, function        the public functions
"""

from ..graph.public import public_package as _public_package
from .convert import convert, do_not_convert, to_code
from .directives import set_element_type, set_loop_options
from .iterables import Rows, register_iterable
from .operators.lists import List
from .verbosity import set_verbosity

__all__ = [
    "List",
    "Rows",
    "convert",
    "do_not_convert",
    "register_iterable",
    "set_element_type",
    "set_loop_options",
    "set_verbosity",
    "to_code",
]

_public_package(__name__)
