"""`kg.random`: the default random streams."""

from .streams import RandomStreams

__all__ = ["random"]

random = RandomStreams(metaseed=20211121)  # one seed call resets all streams of a function
