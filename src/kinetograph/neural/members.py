"""Members of an ensemble: trained, then sampled from the trained points."""

import warnings
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..graph.errors import KinetographWarning
from ..graph.precision import precision
from ..models.model import Model
from ..runs.mcmc import mcmc
from ..runs.stepping import chain
from ..samplers.mclmc import MCLMC
from ..samplers.sampler import Sampler
from .losses import Loss
from .network import Network
from .parameters import ParameterLayout
from .posterior import Prior, log_prior_of, posterior
from .training import Training, train

__all__ = ["Members", "sample_members", "tuned_step_size"]

ENERGY_ERROR = 5e-4  # the variance of a step's energy error for each coordinate


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
    held: tuple[np.ndarray, np.ndarray],
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
    """Train members on `rows`, and sample each from its trained point, with all rows.

    The held rows end the training; sampling uses them, too.
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
        single: Any = [tuple(x.astype(np.float32) for x in pair) for pair in (rows, held)]
        trained = train(
            mean_loss,
            log_prior,
            starts.astype(np.float32),
            single[0],
            single[1] if len(held[0]) else single[0],
            key=jax.random.fold_in(key, members),
            **training,
        )
        if not draws:
            return Members(layout, trained, None, trained.parameters[:, None])
        x, y = (np.concatenate(pair) for pair in zip(rows, held, strict=True))
        model = posterior(network, layout, loss, x, y, prior=prior)
        samplers: Any = sampler
        if sampler is None:
            samplers = _tuned(model, trained.parameters, seed)
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
                initial=trained.parameters,
                progress=progress,
            )
    return Members(layout, trained, results, results["posterior"]["parameters"].values)


def _tuned(model: Model, starts: np.ndarray, seed: int) -> list[MCLMC]:
    """A sampler for each member, with its step size."""
    return [
        MCLMC(step_size=tuned_step_size(model, start, seed=seed, index=i))
        for i, start in enumerate(starts)
    ]


def tuned_step_size(
    model: Model,
    start: np.ndarray,
    *,
    seed: int = 0,
    index: int = 0,
    rounds: int = 15,
    steps: int = 100,
    first: float = 0.01,
) -> float:
    """The step size of MCLMC at which the energy error has its usual variance.

    The variance of a step's energy error, which grows with about the sixth power of the step size,
    divided by the number of coordinates, is brought to 5e-4.

    Source: J. Robnik et al., JMLR 24 (2023), section 5.
    """
    running = chain(model, MCLMC(step_size=first), seed=seed, index=index, initial=start)
    step_size, sizes = first, []
    for _ in range(rounds):
        rows = running.step(steps)
        variance = float(np.var(rows.sample_stats["energy_error"])) / model.free_size
        if not np.isfinite(variance):
            step_size *= 0.5
            running.move(start)
        else:
            step_size *= float(np.clip((ENERGY_ERROR / max(variance, 1e-30)) ** (1 / 6), 0.5, 2))
        running.hyper["step_size"] = step_size
        sizes.append(step_size)
    return float(np.exp(np.mean(np.log(sizes[rounds // 2 :]))))
