"""Errors of libraries about what a function was given are told in its words."""

import functools

import numpy as np
import pytest

import kinetograph as kg


def test_the_function_the_line_and_what_it_was_given():
    x = kg.data([1.0, 2.0])
    with pytest.raises(TypeError) as caught:
        kg.diag(x, k=kg.gp.rbf(1.0))
    text = r"diag: .* \(test_library_errors.py:\d+\); it was given x=the array x, k=a Kernel"
    assert caught.match(text)
    assert isinstance(caught.value.__cause__, TypeError)


def test_a_method_is_not_told_of_the_object_it_is_of():
    with pytest.raises(TypeError, match=r"^seed: .*; it was given fn=the function sin, bits=a Num"):
        kg.RandomStreams(1).seed(np.sin, np.eye(2))


def test_an_array_in_the_place_of_a_flag():
    with pytest.raises(ValueError, match="one number, text, True or False"):
        kg.optimizers.gradient_descent(0.1, nesterov=np.ones(2))


def test_what_the_users_function_raises_is_the_users():
    def wrong(x):
        return np.zeros(2).reshape(3)

    with pytest.raises(ValueError, match=r"^cannot reshape array of size 2 into shape") as caught:
        kg.vmap(wrong)(kg.data([1.0, 2.0]))
    assert caught.value.__cause__ is None


def test_our_own_errors_tell_the_line():
    told = r"^stack needs at least one array \(test_library_errors.py:\d+\)$"
    with pytest.raises(kg.ShapeError, match=told) as caught:
        kg.stack([])
    assert caught.value.__cause__ is None


def test_the_line_stands_before_the_way_out():
    with pytest.raises(TypeError, match=r"array \(test_library_errors.py:\d+\); kg.data"):
        kg.compile([], 3.0)


def test_our_own_errors_leave_without_the_way_to_them():
    with pytest.raises(ValueError, match="sd must be positive") as caught:
        kg.normal(0, -1)
    files = [str(entry.path.name) for entry in caught.traceback]
    assert files == ["test_library_errors.py", "public.py"]


def test_what_the_users_function_raises_keeps_its_lines():
    def wrong(so_far):
        return so_far.no_such_name

    model = kg.model(kg.normal(0, 1, name="x"))
    with pytest.raises(AttributeError, match="no_such_name") as caught:
        kg.mcmc(model, draws=2, warmup=2, chains=1, progress=False, callback=wrong)
    assert "wrong" in [entry.name for entry in caught.traceback]


class Watch:
    """A callback that is an object."""

    def __call__(self, so_far):
        return np.zeros(2).reshape(3)


@pytest.mark.parametrize("watch", [Watch(), functools.partial(Watch.__call__, Watch())])
def test_functions_of_installed_packages_are_the_users(monkeypatch, watch):
    monkeypatch.setattr(
        "kinetograph.calls.library_errors._libraries", lambda: ("/",)
    )  # all is installed
    model = kg.model(kg.normal(0, 1, name="x"))
    with pytest.raises(ValueError, match=r"^cannot reshape array of size 2"):
        kg.mcmc(model, draws=2, warmup=2, chains=1, progress=False, callback=watch)
