"""Files and batches of the peers with stochastic gradients.

    python PEER.py ROWS.npz RESULTS.npz --sampler sghmc --step 0.01 --steps 20000 --burn 5000

`ROWS.npz` has inputs x, classes y and x_test. The network is a perceptron with one hidden layer and
tanh, with a standard normal prior times `--prior`. The results are the seconds of the steps, and
the probabilities of classes at x_test, averaged over the kept steps. Runs of several `--seeds` are
averaged, as an ensemble. `--step` is a step h of Langevin dynamics; SGLD makes steps of h^2 / 2.
"""

import argparse
import itertools
from typing import Any

import numpy as np

__all__ = ["arguments", "batches", "save", "start"]


def arguments() -> Any:
    """The command line; it has the rows, too."""
    parser = argparse.ArgumentParser()
    parser.add_argument("rows")
    parser.add_argument("results")
    parser.add_argument("--sampler", choices=["sgld", "sghmc"], default="sgld")
    parser.add_argument("--hidden", type=int, default=100)
    parser.add_argument("--prior", type=float, default=1.0)
    parser.add_argument("--batch", type=int, default=100)
    parser.add_argument("--step", type=float, default=1e-3)
    parser.add_argument("--friction", type=float, default=1.0)
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--burn", type=int, default=0)
    parser.add_argument("--every", type=int, default=100)
    parser.add_argument("--threads", type=int, help="of PyTorch")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    given = parser.parse_args()
    with np.load(given.rows) as rows:
        given.x = rows["x"].astype(np.float32)
        given.y = rows["y"].astype(np.int64)
        given.x_test = rows["x_test"].astype(np.float32)
    given.batch = min(given.batch, len(given.x))
    return given


def start(given: Any, rng: np.random.Generator) -> list[np.ndarray]:
    """Weights and biases of both layers, by He's rule."""
    sizes = given.x.shape[1], given.hidden, int(given.y.max()) + 1
    arrays = []
    for into, out in itertools.pairwise(sizes):
        arrays += [rng.normal(size=(into, out)) * np.sqrt(2 / into), np.zeros(out)]
    return [array.astype(np.float32) for array in arrays]


def batches(given: Any, rng: np.random.Generator) -> np.ndarray:
    """Rows of the batches of all steps, from shuffled epochs, (steps, batch)."""
    count, size = len(given.x), given.batch
    epochs = -(-given.steps * size // (count // size * size))
    orders = [rng.permutation(count)[: count // size * size] for _ in range(epochs)]
    return np.concatenate(orders).reshape(-1, size)[: given.steps].astype(np.int32)


def save(given: Any, chances: list[np.ndarray], seconds: float, processor: float) -> None:
    """Write the results."""
    steps = given.steps * len(given.seeds)
    mean = np.mean(chances, 0) if chances else np.zeros((len(given.x_test), 0))
    np.savez(given.results, chances=mean, seconds=seconds / steps, processor=processor / steps)
