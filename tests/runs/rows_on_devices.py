"""Runs whose rows 1, 2 and 8 of 8 host devices share; prints the cases whose draws agree."""

import sys
import warnings

import numpy as np
import pytest

import kinetograph as kg

__all__ = ["model_of_rows", "run_of_rows"]

SAMPLERS = {
    "default": None,
    "hmc": kg.samplers.HMC(),
    "baoab": kg.samplers.BAOAB(0.01),
    "hierarchy": None,
    "effects": None,
}
GROUPS = ("posterior", "sample_stats", "sampler_state")


def model_of_rows(count: int = 130) -> kg.Model:
    """A Poisson regression; its program reads `kg.log(t)`, and not t."""
    random = np.random.default_rng(1)
    x = kg.data(random.normal(size=(count, 3)), "x")
    t = kg.data(random.integers(1, 4, size=count), "t")
    y = kg.data(random.poisson(2.0, size=count), "y")
    sd = kg.half_normal(1.0, name="sd")
    w = kg.normal(0, sd, shape=3, name="w")
    kg.observe(y, kg.poisson(kg.exp(kg.log(t) + x @ w)))
    return kg.model(w, sd)


def hierarchy() -> kg.Model:
    """A model whose form NUTS chooses during warm-up."""
    random = np.random.default_rng(2)
    g = kg.data(random.integers(0, 21, size=130), "g")
    y = kg.data(random.poisson(1.0, size=130), "y")
    sd, mean = kg.half_normal(1.0, name="sd"), kg.normal(0, 1, name="mean")
    w = kg.normal(mean, sd, shape=21, name="w")
    kg.observe(y, kg.poisson(kg.exp(w[g])))
    return kg.model(w, sd)


def effects() -> kg.Model:
    """An effect of each row, and a remainder of two rows."""
    random = np.random.default_rng(3)
    x, y = kg.data(random.normal(size=130), "x"), kg.data(random.poisson(1.0, size=130), "y")
    sd, w = kg.half_normal(1.0, name="sd"), kg.normal(0, 1, name="w")
    z = kg.normal(0, sd, shape=130, name="z")
    kg.observe(y, kg.poisson(kg.exp(w * x + z)))
    return kg.model(w, sd, z)


MODELS = {"hierarchy": hierarchy, "effects": effects}


def run_of_rows(model: kg.Model, sampler=None, **settings):
    """A short run with shared rows."""
    short = {"draws": 10, "warmup": 60, "chains": 2, "seed": 3, "progress": False, "shard": "rows"}
    return kg.mcmc(model, sampler, **short | settings)


def main(names: list[str]) -> None:
    warnings.simplefilter("ignore")
    with pytest.raises(ValueError, match=r"power of two up to 32.*got 3.*give devices=2"):
        run_of_rows(model_of_rows(), devices=3)
    for name in names:
        model, sampler = MODELS.get(name, model_of_rows)(), SAMPLERS[name]
        settings = {"warmup": None} if name == "hierarchy" else {}
        every = [run_of_rows(model, sampler, devices=count, **settings) for count in (1, 2, 8)]
        one = every[0]
        for tree in every[1:]:
            for group in GROUPS:
                for key, values in one[group].data_vars.items():
                    np.testing.assert_array_equal(tree[group][key], values, err_msg=key)
        print(name)
    continued = kg.extra_samples(one, model, sampler=sampler, draws=5, progress=False, devices=4)
    whole = run_of_rows(model, sampler, draws=15, devices=1, **settings)
    np.testing.assert_array_equal(continued["posterior/w"], whole["posterior/w"])


if __name__ == "__main__":
    main(sys.argv[1:])
