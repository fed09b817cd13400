"""Runs in a folder that are stopped and continued."""

import sys

import numpy as np
import xarray as xr

import kinetograph as kg
from kinetograph.tempering import replicas

SIZES = {
    "smc": {"particles": 60},
    "nested": {"particles": 60},
    "parallel": {"chains": 2, "draws": 8, "warmup": 10},
}
GROUPS = ("posterior", "sample_stats", "unconstrained_posterior", "tempering")
CHANGING = ("sampling_time", "created_at", "store")


def model(values=(1.2, 0.7, 1.9), scale=1.0, **targets):
    """A model; each target is a function of its unknowns."""
    mu, sd = kg.normal(0, scale, name="mu"), kg.half_normal(1, name="sd")
    kg.observe(kg.data(np.array(values), name="heights"), kg.normal(mu, sd), name="y")
    return kg.model(mu, sd, **{name: of(mu, sd) for name, of in targets.items()})


def temper(model, method, **named):
    return kg.temper(model, method, **({"seed": 1, "progress": False} | SIZES[method] | named))


def assert_same(tree, whole):
    """Equal to the last bit, with equal attributes."""
    assert list(tree.children) == list(whole.children)
    for group in GROUPS:
        here, there = (each[group].to_dataset().drop_attrs() for each in (tree, whole))
        xr.testing.assert_identical(here, there)
    here, there = (
        {name: value for name, value in each.attrs.items() if name not in CHANGING}
        for each in (tree, whole)
    )
    assert repr(here) == repr(there)


def long_run(method, **named):
    """A run of some seconds."""
    sizes = {"draws": 1000, "warmup": 100} if method == "parallel" else {"particles": 20_000}
    return temper(model(), method, **(sizes | named))


if __name__ == "__main__":
    replicas.EVERY = 0.2
    long_run(sys.argv[1], store=sys.argv[2])
