"""`kg.Dataset`: data in memory, for loops over rows and mini-batches.

dataset     the public class
steps       the sources of elements: rows, orders, batches, repetitions
readers     how steps are read in a graph and in plain Python
iterator    `iter(dataset)` in converted code: a position stored in the graph
"""

from .dataset import Dataset
from .iterator import DatasetIterator

__all__ = ["Dataset", "DatasetIterator"]
