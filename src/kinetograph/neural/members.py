"""Members of an ensemble: trained, then sampled from the trained points."""

import warnings
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..graph.errors import KinetographWarning
from ..graph.precision import precision
from ..runs.mcmc import mcmc
from ..samplers.sampler import Sampler
from .losses import Loss
from .network import Network
from .parameters import ParameterLayout
from .posterior import Prior, log_prior_of, posterior
from .training import Training, train
from .warmup import warm_members

__all__ = ["Members", "sample_members"]


class Members(NamedTuple):
    """Trained and sampled members.

    Attributes
    ----------
    layout
        The layout of the parameters.
    training
        What training gave.
    results
        The results of `kg.mcmc`, one chain for each member; None if nothing was sampled.
    draws
        Parameters, (members, draws, size).
    """

    layout: ParameterLayout
    training: Training
    results: Any
    draws: np.ndarray


def sample_members(
    network: Network,
    loss: Loss,
    rows: tuple[np.ndarray, np.ndarray],
    validation: tuple[np.ndarray, np.ndarray],
    width: int,
    *,
    members: int,
    prior: Prior,
    sampler: Sampler | None,
    draws: int,
    thin: int,
    warmup: int,
    training: dict[str, Any],
    seed: int,
    progress: Any,
) -> Members:
    """Train members, and sample each from its trained point.

    Members are trained on `rows`, until the loss on `validation` stops falling. Sampling uses
    all rows.
    """
    key = jax.random.key(seed)
    trees = [network.start(jax.random.fold_in(key, i), rows[0][0], width) for i in range(members)]
    layout = ParameterLayout(jax.tree.map(np.asarray, trees[0]))
    starts = np.stack([np.asarray(layout.vector(tree)) for tree in trees])
    with precision("float32"):

        def mean_loss(w: Any, x: Any, y: Any) -> Any:
            outputs = network.outputs(layout.tree(w), x)
            return jnp.mean(jax.vmap(loss.function)(outputs, y))

        log_prior = log_prior_of(prior, layout.tree)
        single: Any = [tuple(x.astype(np.float32) for x in pair) for pair in (rows, validation)]
        trained = train(
            mean_loss,
            log_prior,
            starts.astype(np.float32),
            single[0],
            single[1] if len(validation[0]) else single[0],
            key=jax.random.fold_in(key, members),
            **training,
        )
        if not draws:
            return Members(layout, trained, None, trained.parameters[:, None])
        x, y = (np.concatenate(pair) for pair in zip(rows, validation, strict=True))
        model = posterior(network, layout, loss, x, y, prior=prior)
        samplers: Any = sampler
        positions = trained.parameters
        if sampler is None:
            samplers, positions = warm_members(model, positions, warmup, seed)
            warmup = 0
        with warnings.catch_warnings():
            # Weights of different members are in different modes; predictions are compared.
            warnings.simplefilter("ignore", KinetographWarning)
            results = mcmc(
                model,
                samplers,
                draws,
                warmup,
                members,
                seed,
                thin=thin,
                initial=positions,
                keep_unknowns=False,
                progress=progress,
            )
    return Members(layout, trained, results, results["posterior"]["parameters"].values)
