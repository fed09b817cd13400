"""Readers of whole-number datasets, in graphs and in plain Python."""

import itertools

import numpy as np

import kinetograph as kg

__all__ = ["collector", "compiled", "plain"]


def collector(dataset, length, shape=(), early=False):
    """The first elements as an array, by a loop.

    The loop runs over all elements, or ends early.
    """

    def through(x):
        out, n = kg.data(np.full((length, *shape), -1)), 0
        for element in dataset:
            out = out.at[n].set(element + x)
            n += 1
        return out

    def until(x):
        out, n = kg.data(np.full((length, *shape), -1)), 0
        for element in dataset:
            if n >= length:
                break
            out = out.at[n].set(element + x)
            n += 1
        return out

    return until if early else through


def compiled(dataset, length, shape=(), early=False):
    return kg.function(collector(dataset, length, shape, early))


def plain(dataset, length=None):
    return [np.asarray(e).tolist() for e in itertools.islice(iter(dataset), length)]
