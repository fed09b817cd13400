"""One run of a peer on a problem with known evidence.

    python benchmarks/peers/evidence_peer.py dynesty "shells 10" --seed 1 --setting default

It prints a line of JSON. Settings: `default` is what the library does when nothing is chosen;
`better` is meant to reach an error of about 0.1 nats.
"""

import argparse
import json
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1]))

from evidence_problems import PROBLEMS, Problem

Answer = tuple[float, float, np.ndarray, int, int]  # log Z, stated error, draws, values, gradients


def resampled(draws: np.ndarray, weights: np.ndarray, seed: int) -> np.ndarray:
    """4,000 draws of equal weight."""
    rng = np.random.default_rng(seed)
    return draws[rng.choice(len(draws), 4000, p=weights / weights.sum())]


def dynesty(problem: Problem, better: bool, seed: int) -> Answer:
    """Static nested sampling; `better` has 1,000 live points and a late end."""
    import dynesty

    more = {"nlive": 1000} if better else {}
    sampler = dynesty.NestedSampler(
        lambda x: float(problem.log_likelihood(x, np)),
        problem.transform,
        problem.size,
        rstate=np.random.default_rng(seed),
        **more,
    )
    sampler.run_nested(print_progress=False, **({"dlogz": 1e-6} if better else {}))
    found = sampler.results
    draws = resampled(found.samples, np.exp(found.logwt - found.logz[-1]), seed)
    return found.logz[-1], found.logzerr[-1], draws, int(np.sum(found.ncall)), 0


def nautilus(problem: Problem, better: bool, seed: int) -> Answer:
    """Importance nested sampling; `better` has 4,000 live points."""
    from nautilus import Sampler

    sampler = Sampler(
        problem.transform,
        lambda x: problem.log_likelihood(x, np),
        problem.size,
        n_live=4000 if better else 2000,
        vectorized=True,
        pass_dict=False,
        seed=seed,
    )
    sampler.run(n_like_max=3_000_000, timeout=600)
    draws, log_weights, _ = sampler.posterior()
    weights = np.exp(log_weights - log_weights.max())
    return sampler.log_z, sampler.n_eff**-0.5, resampled(draws, weights, seed), sampler.n_like, 0


def pocomc(problem: Problem, better: bool, seed: int) -> Answer:
    """Preconditioned Monte Carlo with a flow; `better` has 4 times the particles."""
    import pocomc
    from scipy import stats

    kind, first, second = problem.prior
    each = stats.uniform(first, second - first) if kind == "uniform" else stats.norm(first, second)
    counted = [0]

    def log_likelihood(x: np.ndarray) -> np.ndarray:
        counted[0] += len(x)
        return problem.log_likelihood(x, np)

    more = {"n_effective": 2048, "n_active": 1024} if better else {}
    sampler = pocomc.Sampler(
        pocomc.Prior([each] * problem.size),
        log_likelihood,
        vectorize=True,
        random_state=seed,
        **more,
    )
    sampler.run(progress=False)
    draws, weights, _, _ = sampler.posterior()
    log_z, error = sampler.evidence()
    return log_z, error, resampled(draws, weights, seed), counted[0], 0


def pymc(problem: Problem, better: bool, seed: int) -> Answer:
    """Sequential Monte Carlo with independent proposals; `better` has 10,000 particles.

    The stated error is that of the mean over the chains.
    """
    import pymc as pm
    import pytensor.tensor as pt

    kind, first, second = problem.prior
    with pm.Model():
        make = pm.Uniform if kind == "uniform" else pm.Normal
        x = make("x", first, second, shape=problem.size)
        pm.Potential("l", problem.log_likelihood(x, pt))
        tree = pm.sample_smc(
            10_000 if better else 2000,
            chains=4,
            cores=1,
            random_seed=seed,
            progressbar=False,
            compute_convergence_checks=False,
        )
    stats = tree["sample_stats"]
    each = np.array([_last(v) for v in stats["log_marginal_likelihood"].values], float)
    draws = tree["posterior"]["x"].values.reshape(-1, problem.size)
    spread = each.std(ddof=1) / np.sqrt(len(each))
    return float(np.log(np.mean(np.exp(each - each.max()))) + each.max()), spread, draws, -1, 0


def _last(values: Any) -> float:
    flat = np.concatenate(
        [np.atleast_1d(np.asarray(v, float)).ravel() for v in np.atleast_1d(values)]
    )
    return float(flat[np.isfinite(flat)][-1])


def _jax_densities(problem: Problem) -> tuple[Callable[..., Any], Callable[..., Any]]:
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    kind, first, second = problem.prior

    def log_prior(x: Any) -> Any:
        if kind == "uniform":
            inside = jnp.all((x > first) & (x < second))
            return jnp.where(inside, -problem.size * jnp.log(second - first), -jnp.inf)
        return jax.scipy.stats.norm.logpdf(x, first, second).sum()

    return log_prior, lambda x: problem.log_likelihood(x, jnp)


def blackjax_ns(problem: Problem, better: bool, seed: int) -> Answer:
    """Nested slice sampling; a step replaces a tenth of the live points.

    The default has 500 live points and 2 d slices, `better` 1,000 and 3 d.
    """
    import blackjax
    import jax
    import jax.numpy as jnp
    from blackjax.ns import integrator as sums
    from blackjax.ns import utils

    log_prior, log_likelihood = _jax_densities(problem)
    live = 1000 if better else 500
    steps = max(5, (3 if better else 2) * problem.size)
    algorithm = blackjax.nss(log_prior, log_likelihood, steps, num_delete=live // 10)
    start = jnp.asarray(problem.simulate(live, np.random.default_rng(seed)))
    key = jax.random.key(seed)
    state = algorithm.init(start)
    total = sums.init_integrator(state.particles)
    step = jax.jit(algorithm.step)
    add = jax.jit(sums.update_integrator)
    dead = []
    values = live
    while not total.logZ_live - total.logZ < -3:
        key, own = jax.random.split(key)
        state, info = step(own, state)
        total = add(total, state.particles, info.particles)
        dead.append(info)
    every = utils.finalise(state, dead, update_info=True)
    slices = every.update_info
    values += int(np.sum(slices.num_expansions)) + int(np.sum(slices.num_shrink))
    weights = utils.log_weights(key, every._replace(update_info=None), 100)
    each = jax.scipy.special.logsumexp(weights, axis=0)
    draws = utils.sample(key, every._replace(update_info=None), 4000).position
    return float(each.mean()), float(each.std()), np.asarray(draws), values, 0


def blackjax_smc(problem: Problem, better: bool, seed: int) -> Answer:
    """Adaptive tempered sequential Monte Carlo with HMC; it states no error.

    BlackJAX has no default step size; the one here follows the dimension, and is not tuned.
    """
    import blackjax
    import jax
    import jax.numpy as jnp
    from blackjax.smc import extend_params, resampling

    log_prior, log_likelihood = _jax_densities(problem)
    kind, first, second = problem.prior
    count = 4000 if better else 1000
    steps, leaps = (20, 10) if better else (10, 10)
    start = jnp.asarray(problem.simulate(count, np.random.default_rng(seed)))
    if kind == "uniform":  # HMC on the logit scale
        start = jax.scipy.special.logit((start - first) / (second - first))

        def there(q: Any) -> Any:
            return first + (second - first) * jax.nn.sigmoid(q)

        def prior(q: Any) -> Any:
            return jnp.sum(jax.nn.log_sigmoid(q) + jax.nn.log_sigmoid(-q))

    else:
        there, prior = (lambda q: q), log_prior
    scale = start.std(0)
    parameters = {
        "step_size": 0.3 * problem.size**-0.25,
        "inverse_mass_matrix": scale**2,
        "num_integration_steps": leaps,
    }
    algorithm = blackjax.adaptive_tempered_smc(
        prior,
        lambda q: log_likelihood(there(q)),
        blackjax.hmc.build_kernel(),
        blackjax.hmc.init,
        extend_params(parameters),
        resampling.systematic,
        0.9 if better else 0.5,
        num_mcmc_steps=steps,
    )
    state, key, log_z, rungs = algorithm.init(start), jax.random.key(seed), 0.0, 0
    step = jax.jit(algorithm.step)
    while state.tempering_param < 1 and rungs < 1000:
        key, own = jax.random.split(key)
        state, info = step(own, state)
        log_z += float(info.log_likelihood_increment)
        rungs += 1
    draws = np.asarray(there(state.particles))
    return log_z, float("nan"), draws, rungs * count, rungs * count * steps * leaps


PEERS = {
    "dynesty": dynesty,
    "nautilus": nautilus,
    "pocomc": pocomc,
    "pymc": pymc,
    "blackjax_ns": blackjax_ns,
    "blackjax_smc": blackjax_smc,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("peer", choices=list(PEERS))
    parser.add_argument("problem", choices=list(PROBLEMS))
    parser.add_argument("--setting", choices=["default", "better"], default="default")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    problem = PROBLEMS[given.problem]()
    truth = problem.truth()
    started, used = time.perf_counter(), time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        log_z, error, draws, values, gradients = PEERS[given.peer](
            problem, given.setting == "better", given.seed
        )
    seconds, processor = time.perf_counter() - started, time.process_time() - used
    weights = None
    if problem.shares is not None and truth.weights is not None:
        weights = float(np.abs(problem.shares(draws).mean(0) - truth.weights).max())
    found = {
        "peer": given.peer,
        "setting": given.setting,
        "problem": given.problem,
        "seed": given.seed,
        "error": float(log_z) - truth.log_evidence,
        "stated": float(error),
        "weights": weights,
        "values": values,
        "gradients": gradients,
        "seconds": seconds,
        "processor": processor,
    }
    print("@evidence " + json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
