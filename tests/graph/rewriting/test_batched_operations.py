"""Operations that are alike are brought together; what each is computed from comes first."""

import numpy as np

from kinetograph.graph.node import Apply, Node, Operation, ancestors
from kinetograph.graph.rewriting.batched_operations import together

FLOAT = np.dtype(np.float64)
SAME, OTHER = Operation("same", lambda *x: x[0]), Operation("other", lambda *x: x[0])


class Alike(Apply):
    """An operation that is like all of its name."""

    @property
    def alike(self):
        return self.operation.name


def node(kind, operation, *parents):
    return kind(operation, parents, (), FLOAT)


def test_those_that_need_one_another_are_apart():
    start = Node((), (), FLOAT)
    a, b = node(Alike, SAME, start), node(Alike, SAME, start)
    after = node(Apply, OTHER, a)
    c = node(Alike, SAME, after)
    d, e = node(Alike, SAME, start), node(Alike, OTHER, start)
    result = node(Apply, OTHER, a, b, c, d, e)
    order, groups = together(ancestors([result]), {})
    assert groups == {key: [a, b, d] for key in (a, b, d)}
    place = {n: i for i, n in enumerate(order)}
    assert set(order) == {start, a, b, after, c, d, e, result}
    assert all(place[p] < place[n] for n in order for p in n.parents)
    # What any of a group needs comes before the first of it.
    assert max(place[a], place[b], place[d]) < place[after]


def test_known_ones_are_left_out():
    start = Node((), (), FLOAT)
    a, b, c = (node(Alike, SAME, start) for _ in range(3))
    order = [start, a, b, c]
    assert together(order, {a: 0})[1] == {key: [b, c] for key in (b, c)}
    assert together(order, {a: 0, b: 0}) == (order, {})
