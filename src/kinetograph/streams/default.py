"""`kg.random`: draws of which nobody cares where they come from."""

from .streams import RandomStreams

__all__ = ["random"]

random = RandomStreams(metaseed=20211121)  # seeding it once resets all of a function
