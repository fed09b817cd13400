"""Errors of results for names that they do not have."""

import pickle

import numpy as np
import pytest
import xarray as xr

import kinetograph as kg
from kinetograph.models.results_tree import answering, tree_of


@pytest.fixture
def results():
    mu = xr.Dataset({"mu": ("draw", np.arange(3.0))}, {"draw": np.arange(3)})
    return tree_of({"posterior": mu, "sample_stats": xr.Dataset({"lp": ("draw", np.ones(3))})})


@pytest.mark.parametrize(
    ("read", "told"),
    [
        (lambda r: r["posteriro"], "they hold posterior, sample_stats; did you mean 'posterior'"),
        (lambda r: r["mu"], r"in the group posterior: results\['posterior'\]\['mu'\]"),
        (
            lambda r: r["posterior"]["muu"],
            "group posterior .*; it holds mu, draw; did you mean 'mu'",
        ),
        (lambda r: r["posterior"]["lp"], r"sample_stats: results\['sample_stats'\]\['lp'\]"),
        (lambda r: r["posterior"]["sample_stats"], "it is a group of the whole results"),
        (
            lambda r: r["posterior_predictive"],
            r"sample_stats; kg.predict\(model, results\) adds it",
        ),
        (lambda r: r["log_prior"], r"; kg.log_prior\(model, results\) adds it"),
        (lambda r: r["prior"], r"; results.update\(kg.simulate\(model\)\) adds it"),
    ],
)
def test_items_that_there_are_not(results, read, told):
    with pytest.raises(KeyError, match=told) as caught:
        read(results)
    assert caught.match(r"\(test_results_tree.py:\d+\)")


def test_an_array_in_place_of_a_name(results):
    mu, lp = kg.normal(0, 1), kg.normal(0, 1)
    for tree, array, told in (
        (results, mu, r"got the array mu \(.*py:\d+\); write results\['posterior'\]\['mu'\]$"),
        (results["posterior"], mu, r"write results\['posterior'\]\['mu'\]$"),
        (results["posterior"], lp, r"write results\['sample_stats'\]\['lp'\]$"),
    ):
        with pytest.raises(TypeError, match=told):
            tree[array]
    with pytest.raises(TypeError, match=r"; write kg.calculate\(mu \+ lp, values=results\)$"):
        results[mu + lp]


def test_attributes_that_there_are_not(results):
    with pytest.raises(AttributeError, match="did you mean 'mu'"):
        results.posterior.muu
    assert not hasattr(results, "posteriro")
    for name, told in (
        ("extend", r"here it is results.update\(other\)"),
        ("get_samples", r"draws are results\['posterior'\]\['name'\]"),
        ("predictions", r"kg.predict\(model, results, name=array\) adds it"),
    ):
        with pytest.raises(AttributeError, match=told):
            getattr(results, name)
    assert getattr(results, "_repr_mimebundle_", None) is None


def test_what_there_is(results):
    assert results["posterior/mu"].shape == results.posterior.mu.shape == (3,)
    assert "mu" not in results
    assert repr(results).startswith("<xarray.DataTree>")


def test_copies_answer_too(results):
    others = (results.copy(), results.isel(draw=0), pickle.loads(pickle.dumps(results)))
    for other in (*others, answering(xr.DataTree.from_dict(results.to_dict()))):
        with pytest.raises(KeyError, match="did you mean 'mu'"):
            other["posterior"]["muu"]
    assert others[2].identical(results)
