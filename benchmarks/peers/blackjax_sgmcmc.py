"""BlackJAX: SGLD and SGHMC in a compiled scan over steps."""

import time

import blackjax
import jax
import jax.numpy as jnp
import numpy as np
from sgmcmc import arguments, batches, save, start


def outputs(w, x):
    return jnp.tanh(x @ w[0] + w[1]) @ w[2] + w[3]


def main():
    given = arguments()
    x, y = jnp.asarray(given.x), jnp.asarray(given.y)

    def prior(w):
        return sum(-0.5 * jnp.sum((each / given.prior) ** 2) for each in w)

    def likelihood(w, batch):
        return jax.nn.log_softmax(outputs(w, batch[0]))[batch[1]]

    gradient = blackjax.sgmcmc.gradients.grad_estimator(prior, likelihood, len(x))
    trajectory = 10  # steps of SGHMC between new momenta, BlackJAX's default
    if given.sampler == "sgld":
        step = blackjax.sgld(gradient).step
    else:
        step = blackjax.sghmc(gradient, trajectory, alpha=given.friction).step
    size = given.step**2 / 2 if given.sampler == "sgld" else given.step
    steps = given.steps if given.sampler == "sgld" else given.steps // trajectory
    every = given.every if given.sampler == "sgld" else max(1, given.every // trajectory)

    @jax.jit
    def run(w, keys, rows):
        def one(w, each):
            key, batch = each
            return step(key, w, (x[batch], y[batch]), size), None

        return jax.lax.scan(one, w, (keys, rows))[0]

    predict = jax.jit(lambda w, x: jax.nn.softmax(outputs(w, x)))
    found, seconds, processor = [], 0.0, 0.0
    for seed in given.seeds:
        rng = np.random.default_rng(seed)
        w = [jnp.asarray(each) for each in start(given, rng)]
        rows = batches(given, rng)[:steps]
        keys = jax.random.split(jax.random.key(seed), steps)
        jax.block_until_ready(run(w, keys[:every], rows[:every]))
        for first in range(0, steps, every):
            part = slice(first, first + every)
            begun, used = time.perf_counter(), time.process_time()
            w = jax.block_until_ready(run(w, keys[part], rows[part]))
            seconds += time.perf_counter() - begun
            processor += time.process_time() - used
            if (first + every) * given.steps > given.burn * steps:
                found.append(np.asarray(predict(w, given.x_test)))
    save(given, found, seconds, processor)


if __name__ == "__main__":
    main()
