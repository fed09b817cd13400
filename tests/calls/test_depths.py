"""Errors of libraries about what a function was given are told in its words."""

import numpy as np
import pytest

import kinetograph as kg


def test_the_function_the_line_and_what_it_was_given():
    x = kg.data([1.0, 2.0])
    with pytest.raises(TypeError) as caught:
        kg.diag(x, k=kg.gp.rbf(1.0))
    text = r"diag: .* \(test_depths.py:\d+\); it was given x=the array x, k=a Kernel"
    assert caught.match(text)
    assert isinstance(caught.value.__cause__, TypeError)


def test_a_method_is_not_told_of_the_object_it_is_of():
    with pytest.raises(TypeError, match=r"^seed: .*; it was given fn=the function sin, bits=a Num"):
        kg.RandomStreams(1).seed(np.sin, np.eye(2))


def test_an_array_in_the_place_of_a_flag():
    with pytest.raises(ValueError, match="there is to be one number, text, True or False"):
        kg.optimizers.gradient_descent(0.1, nesterov=np.ones(2))


def test_what_the_users_function_raises_is_the_users():
    def wrong(x):
        return np.zeros(2).reshape(3)

    with pytest.raises(ValueError, match=r"^cannot reshape array of size 2 into shape") as caught:
        kg.vmap(wrong)(kg.data([1.0, 2.0]))
    assert caught.value.__cause__ is None


def test_our_own_errors_are_as_they_are():
    with pytest.raises(kg.ShapeError, match=r"^stack needs at least one array$") as caught:
        kg.stack([])
    assert caught.value.__cause__ is None
