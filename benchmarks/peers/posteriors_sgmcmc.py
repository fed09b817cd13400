"""`posteriors` on PyTorch: SGLD and SGHMC in a loop of Python.

Its log posterior is divided by the number of rows, with a temperature of one over it, as its
documentation recommends; step and friction belong to the undivided one.
"""

import time

import numpy as np
import posteriors
import torch
from sgmcmc import arguments, batches, save, start


def outputs(w, x):
    return torch.tanh(x @ w["w1"] + w["b1"]) @ w["w2"] + w["b2"]


def main():
    given = arguments()
    if given.threads is not None:
        torch.set_num_threads(given.threads)
    count = len(given.x)
    x, y = torch.from_numpy(given.x), torch.from_numpy(given.y)
    x_test = torch.from_numpy(given.x_test)

    def log_posterior(w, batch):
        inputs, labels = batch
        found = outputs(w, inputs)
        prior = sum(-0.5 * torch.sum((each / given.prior) ** 2) for each in w.values())
        return -torch.nn.functional.cross_entropy(found, labels) + prior / count, found

    if given.sampler == "sgld":
        transform = posteriors.sgmcmc.sgld.build(
            log_posterior, lr=given.step**2 / 2 * count, temperature=1 / count
        )
    else:  # time and friction of momenta that are divided by the root of the number of rows
        root = count**0.5
        transform = posteriors.sgmcmc.sghmc.build(
            log_posterior,
            lr=given.step * root,
            alpha=given.friction / root,
            temperature=1 / count,
            momenta=0.0,
        )
    found, seconds, processor = [], 0.0, 0.0
    for seed in given.seeds:
        torch.manual_seed(seed)
        rng = np.random.default_rng(seed)
        names = ("w1", "b1", "w2", "b2")
        arrays = map(torch.from_numpy, start(given, rng))
        state = transform.init(dict(zip(names, arrays, strict=True)))
        rows = torch.from_numpy(batches(given, rng).astype(np.int64))
        for first in range(0, given.steps, given.every):
            begun, used = time.perf_counter(), time.process_time()
            for batch in rows[first : first + given.every]:
                state, _ = transform.update(state, (x[batch], y[batch]), inplace=True)
            seconds += time.perf_counter() - begun
            processor += time.process_time() - used
            if first + given.every > given.burn:
                with torch.no_grad():
                    found.append(torch.softmax(outputs(state.params, x_test), 1).numpy())
    save(given, found, seconds, processor)


if __name__ == "__main__":
    main()
