"""`kg.Dataset`: data in memory, for loops over rows and mini-batches.

dataset     what users call
steps       where elements come from: rows, orders, batches, repetitions
reading     steps read in a graph, and as plain Python
iterator    `iter(dataset)` in converted code: a position that the graph carries along
"""

from .dataset import Dataset
from .iterator import DatasetIterator

__all__ = ["Dataset", "DatasetIterator"]
