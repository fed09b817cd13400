"""What variables hold, as the ways of a staged statement leave it."""

import kinetograph as kg
from kinetograph.autograph.operators.object_trees import object_tree, places, settled


def test_objects_at_the_places_of_a_variable():
    inner, array = [1], kg.placeholder(2, name="a")
    tree = object_tree({"a": inner, "b": (array, 2.0)})
    found = [(place, held) for place, _, held in places(tree, tree, ())]
    assert [place for place, _ in found] == [(), (0,), (1, 0)]
    assert found[1][1] is inner
    assert found[2][1] is array


def test_what_all_ways_leave_stays_what_it_is():
    held, other = [1, 2], [1, 2]
    assert settled([3, 4], [object_tree(held), object_tree(held)]) is held == [3, 4]
    made = settled([5, 6], [object_tree(held), object_tree(other)])
    assert all(made is not one for one in (held, other))
    assert made == [5, 6]
    missing = settled([7, 8], [object_tree(held), None])
    assert missing is not held
    assert held == [3, 4]
