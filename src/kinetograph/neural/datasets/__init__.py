"""Data of networks: reading, features of inputs, synthetic sets, `kg.neural.datasets`.

reading        inputs and labels from arrays, frames, files and parts
files          CSV files
expressions    features that are expressions of columns
synthetic      small sets of points with two classes, and of curves
digits         images of digits
"""

from ...graph.public import public_package as _public_package
from .digits import digits
from .expressions import InputColumns
from .files import write_csv
from .reading import LabelledData, read
from .synthetic import linear, sine, spiral, squares, two_circles, two_clusters

__all__ = [
    "InputColumns",
    "LabelledData",
    "digits",
    "linear",
    "read",
    "sine",
    "spiral",
    "squares",
    "two_circles",
    "two_clusters",
    "write_csv",
]

_public_package(__name__)
