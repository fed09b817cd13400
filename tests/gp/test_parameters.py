"""Parameters of kernels that are not positive, and dims of latent values."""

import warnings

import numpy as np
import pytest

import kinetograph as kg

gp = kg.gp
X = np.array([0.0, 0.4, 1.1])
PARAMETERS = {
    "rbf": ("length", "sd"),
    "matern12": ("length", "sd"),
    "matern32": ("length", "sd"),
    "matern52": ("length", "sd"),
    "periodic": ("period", "length", "sd"),
    "linear": ("sd",),
    "constant": ("sd",),
    "white": ("sd",),
}
CASES = [(name, parameter) for name, parameters in PARAMETERS.items() for parameter in parameters]


def made(name, **given):
    return getattr(gp, name)(**(dict.fromkeys(PARAMETERS[name], 1.0) | given))


@pytest.mark.parametrize(("name", "parameter"), CASES)
def test_parameters_are_positive(name, parameter):
    for wrong in (0.0, -1.0, np.nan, -2):
        with pytest.raises(ValueError, match=f"^{name}: {parameter} must be positive, got {wrong}"):
            made(name, **{parameter: wrong})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        made(name, **{parameter: kg.half_normal(1)})
        made(name, **{parameter: kg.exp(kg.normal(0, 1))})


@pytest.mark.parametrize(("name", "parameter"), CASES)
def test_an_unknown_of_both_signs_is_warned_of(name, parameter):
    unknown = kg.normal(0, 1, name="u")
    said = (
        rf"^{name}: {parameter} must be positive, and u may be any real number \(test_.*both signs"
    )
    with pytest.warns(kg.KinetographWarning, match=said):
        made(name, **{parameter: unknown})


def test_one_of_several_lengths():
    lengths = np.array([0.5, -1.0])
    with pytest.raises(
        ValueError, match=r"length must be positive, got -1\.0 at index 1 in lengths"
    ):
        gp.rbf(lengths)


def test_noise_may_be_zero_and_not_negative():
    process = gp.Process(gp.rbf(1.0))
    with pytest.raises(ValueError, match=r"gp\.Process: noise must be at least 0, got -0\.1"):
        process.marginal(X, -0.1)
    with pytest.raises(ValueError, match=r"gp\.Process: noise must be at least 0, got -0\.1"):
        process.conditional([2.0], X, X, -0.1)
    with pytest.warns(kg.KinetographWarning, match="noise must be at least 0, and u may be any"):
        process.marginal(X, kg.normal(0, 1, name="u"))
    assert process.marginal(X, 0).shape == process.conditional(X, X, X, 0.0).shape == (3,)


def test_a_factor_is_a_variance():
    with pytest.raises(ValueError, match=r"rbf \+ white: the variance must be at least 0, got -1"):
        -1 * (gp.rbf(1.0) + gp.white(1.0))
    with pytest.warns(kg.KinetographWarning, match="variance must be at least 0.*density 0"):
        kg.normal(0, 1) * gp.rbf(1.0)
    values = kg.compile([], [(0 * gp.rbf(1.0))(X), (3 * gp.rbf(1.0))(X), gp.rbf(1.0)(X)])()
    np.testing.assert_allclose(values[:2], [0 * values[2], 3 * values[2]], rtol=1e-14)


@pytest.mark.parametrize(
    "mean",
    [lambda: 0.5, lambda: kg.normal(0, 1), lambda: lambda x: x[:, 0], lambda: lambda x: 2.0],
)
def test_latent_values_have_the_dims(mean):
    """The dims change neither the values nor the unknowns."""
    mean = mean()
    process = gp.Process(gp.rbf(0.5), mean)
    day = kg.dim("day", ["mon", "tue", "wed"])
    for dims in (day, "day", (day,)):
        model = kg.model(f=process.latent(X, dims=dims, name="z"))
        assert model.axes(model.targets[0]) == ("day",)
        labels = model.coords.get("day", np.arange(3))
        assert list(labels) == ([0, 1, 2] if dims == "day" else ["mon", "tue", "wed"])
    values = {"z": np.array([0.3, -1.0, 2.0])}
    if isinstance(mean, kg.Array):
        mean.node.name, values["m"] = "m", 0.7
    draws = [
        kg.calculate(f=process.latent(X, name="z", dims=dims), values=values)["f"]
        for dims in (None, day)
    ]
    np.testing.assert_array_equal(*map(np.asarray, draws))
