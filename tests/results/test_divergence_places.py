"""The place of divergences, from draws made by NumPy."""

import numpy as np
import xarray as xr

from kinetograph.results.divergence_places import place_of

RNG = np.random.default_rng(1)
DRAWS = (4, 500)


def tree(**posterior):
    variables = {
        name: (("chain", "draw", *(f"{name}_dim" for _ in values.shape[2:])), values)
        for name, values in posterior.items()
    }
    return xr.DataTree.from_dict({"posterior": xr.Dataset(variables)})


def flags(lowest_of, count=40):
    """The draws with the lowest values diverge."""
    found = np.zeros(lowest_of.size, bool)
    found[lowest_of.ravel().argsort()[:count]] = True
    return found.reshape(lowest_of.shape)


def test_the_quantity_with_unusual_values_is_named_with_a_quantile():
    tau, mu = RNG.lognormal(size=DRAWS), RNG.normal(size=DRAWS)
    text = place_of(tree(mu=mu, tau=tau), flags(tau))
    below = np.sort(tau.ravel())[29:31]  # three quarters of 40 draws are below one of them
    assert text.startswith(" Three quarters of these draws have tau below ")
    bound = float(text.split("below ")[1].split(",")[0])
    assert below[0] * 0.99 < bound < below[1] * 1.01
    assert "the 1.5 % quantile of all draws" in text
    assert "tau above" in place_of(tree(mu=mu, tau=tau), flags(-tau))
    assert "% quantile" in place_of(tree(mu=mu, tau=tau), flags(-tau))


def test_an_element_of_a_vector_is_named_by_its_label():
    z = RNG.normal(size=(*DRAWS, 3))
    dataset = tree(z=z)["posterior"].to_dataset().assign_coords(z_dim=list("abc"))
    given = xr.DataTree.from_dict({"posterior": dataset})
    assert "z[b] below" in place_of(given, flags(z[..., 1]))


def test_divergences_anywhere_have_no_place():
    tau, z = RNG.lognormal(size=DRAWS), RNG.normal(size=(*DRAWS, 20))
    for seed in range(20):
        by_chance = np.random.default_rng(seed).random(DRAWS) < 0.02
        assert place_of(tree(tau=tau, z=z), by_chance) == ""


def test_few_divergences_and_values_without_an_order_have_no_place():
    tau = RNG.lognormal(size=DRAWS)
    assert place_of(tree(tau=tau), None) == ""
    assert place_of(tree(tau=tau), flags(tau, 9)) == ""
    with_nan = np.where(RNG.random(DRAWS) < 0.01, np.nan, tau)
    assert place_of(tree(tau=with_nan, one=np.ones(DRAWS), flag=tau > 1), flags(tau)) == ""
    assert place_of(tree(none=np.zeros((*DRAWS, 0))), flags(tau)) == ""
    last = np.zeros(DRAWS, bool)
    last[-1, -40:] = True
    assert place_of(tree(one=np.ones(DRAWS), few=tau > 1e9), last) == ""
