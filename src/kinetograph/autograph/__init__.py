"""Plain Python control flow becomes control flow of the graph.

definition, transform    from a function to its rewritten, compiled twin
analysis                 what is read, bound and live where
passes                   the steps of the rewriting, each a file
operators                what rewritten code calls, `ag__`
convert, function        what users call
"""

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
