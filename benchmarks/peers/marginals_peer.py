"""NumPyro's densities of the models of marginals.py.

    marginals_peer.py MODEL INPUT.npz OUTPUT.json

It reports agreement, compile time and gradient time. The input has the data, values of the unknowns
and kinetograph's log densities.
"""

import json
import sys
from pathlib import Path

import numpy as np
import numpyro
from numpyro import distributions as dist
from numpyro.contrib.control_flow import scan

numpyro.enable_x64()

import jax  # noqa: E402  (after the settings above)
import jax.numpy as jnp  # noqa: E402
from numpyro.infer.util import initialize_model  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from timing import timed  # noqa: E402


def shares(k):
    return numpyro.sample("w", dist.Dirichlet(jnp.ones(k)))


def places(k):
    mu = numpyro.sample("mu", dist.Normal(0.0, 5.0).expand([k]).to_event(1))
    sigma = numpyro.sample("sigma", dist.HalfNormal(2.0).expand([k]).to_event(1))
    return mu, sigma


def mixture(y):
    w, (mu, sigma) = shares(3), places(3)
    numpyro.sample("y", dist.MixtureSameFamily(dist.Categorical(w), dist.Normal(mu, sigma)), obs=y)


def labels(y):
    w, (mu, sigma) = shares(3), places(3)
    with numpyro.plate("rows", len(y)):
        z = numpyro.sample("z", dist.Categorical(w), infer={"enumerate": "parallel"})
        numpyro.sample("y", dist.Normal(mu[z], sigma[z]), obs=y)


def hidden_markov(y):
    mu, sigma = places(3)
    moves = numpyro.sample("moves", dist.Dirichlet(jnp.ones((3, 3))).to_event(1))

    def step(before, seen):
        z = numpyro.sample("z", dist.Categorical(moves[before]), infer={"enumerate": "parallel"})
        numpyro.sample("y", dist.Normal(mu[z], sigma[z]), obs=seen)
        return z, None

    scan(step, 0, y)


def changes(y):
    mu = numpyro.sample("mu", dist.Normal(0.0, 1.0).expand([3]).to_event(1))
    years = dist.Categorical(jnp.full(59, 1 / 59))
    first = numpyro.sample("s", years, infer={"enumerate": "parallel"})
    second = numpyro.sample("r", years, infer={"enumerate": "parallel"})
    t = jnp.arange(111) / 2
    with numpyro.plate("rows", len(y)):
        log_rate = jnp.where(t < first, mu[0], jnp.where(t < second, mu[1], mu[2]))
        numpyro.sample("y", dist.Poisson(jnp.exp(log_rate)), obs=y)


def process(x, y):
    length = numpyro.sample("length", dist.LogNormal(-1.0, 0.5))
    variance = numpyro.sample("variance", dist.HalfNormal(2.0))
    noise = numpyro.sample("noise", dist.HalfNormal(0.5))
    gap = (x[:, None] - x) / length
    cov = variance * jnp.exp(-0.5 * gap * gap) + noise**2 * jnp.eye(len(x))
    numpyro.sample("y", dist.MultivariateNormal(jnp.zeros(len(x)), cov), obs=y)


MODELS = {f.__name__: f for f in (mixture, labels, hidden_markov, changes, process)}


def main(name, given, out):
    stored = dict(np.load(given))
    data = {k: stored[f"data {k}"] for k in ("x", "y") if f"data {k}" in stored}
    names = [k.removeprefix("value ") for k in stored if k.startswith("value ")]
    made = initialize_model(jax.random.key(0), MODELS[name], model_kwargs=data)
    potential, start = made.potential_fn, made.param_info.z
    supports = {k: site["fn"].support for k, site in made.model_trace.items() if k in names}
    maps = {k: dist.biject_to(support) for k, support in supports.items()}
    apart = []
    for row, wanted in enumerate(stored["log density"]):
        free, jacobian = {}, 0.0
        for k in names:
            value = jnp.asarray(stored[f"value {k}"][row])
            free[k] = maps[k].inv(value)
            jacobian += jnp.sum(maps[k].log_abs_det_jacobian(free[k], value))
        apart.append(float(-potential(free) - jacobian - wanted))
    np.testing.assert_allclose(apart, apart[0], atol=1e-7 * abs(stored["log density"]).max())
    vector, unravel = jax.flatten_util.ravel_pytree(start)
    found = timed(lambda q: -potential(unravel(q)), 0.1 * vector)
    Path(out).write_text(json.dumps(found))


if __name__ == "__main__":
    import jax.flatten_util

    main(*sys.argv[1:])
