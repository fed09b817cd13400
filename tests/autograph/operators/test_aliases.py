"""NumPy arrays of several names."""

import numpy as np
import pytest

import kinetograph as kg
from kinetograph.autograph.operators.aliases import original_of, refuse_aliases, remember


def test_one_name_is_fine():
    array = np.zeros(3)
    refuse_aliases(array)
    refuse_aliases(None)


def test_another_name_of_the_memory_is_refused():
    array = np.zeros(3)
    view = array[1:]
    with pytest.raises(kg.StagingError, match=r"refer to its memory: 'array' and 'view'"):
        refuse_aliases(array)
    with pytest.raises(kg.StagingError, match="'view'"):
        refuse_aliases(view)


def test_variables_of_callers_count():
    outer = np.zeros(3)

    def inner(own):
        refuse_aliases(own)

    with pytest.raises(kg.StagingError, match="'own' and 'outer'"):
        inner(outer)
    inner(np.zeros(3))


def test_the_array_a_statement_began_with_is_remembered():
    array = kg.data([1.0, 2.0])
    assert original_of(array) is None
    value = np.zeros(2)
    remember(array, value)
    assert original_of(array) is value
    found = []
    kg.while_loop(lambda v: v[0] < 1, lambda v: (found.append(original_of(v)), v + 1)[1], [array])
    assert found[0] is value
