"""Models whose terms are computed as they were written, to compare with."""

from contextlib import contextmanager
from unittest import mock

import jax
import numpy as np

from kinetograph.graph.precision import x64
from kinetograph.models import density, term

QUICK = {"xla_backend_optimization_level": 0}


@contextmanager
def without_rewrites():
    """Neither batches of alike pieces nor compressed likelihoods in models that are made here."""
    with (
        mock.patch.object(density, "find_batches", return_value=None),
        mock.patch.object(term, "compress", return_value=None),
    ):
        yield


def at(models, points):
    """Log densities and gradients of models at some points, by one program."""

    def everywhere(points, values):
        pairs = []
        for model, own in zip(models, values, strict=True):
            data = model.bind(own).data

            def density(point, model=model, data=data):
                return model.density.log_density(point, data)

            pairs.append(jax.lax.map(jax.value_and_grad(density), points))
        return pairs

    with x64():
        values = [model.argument_values for model in models]
        program = jax.jit(everywhere).lower(points, values).compile(QUICK)
        return jax.tree.map(np.asarray, program(points, values))
