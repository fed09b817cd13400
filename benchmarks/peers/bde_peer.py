"""`bde`: scikit-learn's Bayesian deep ensembles, with the settings of its published figures.

    python benchmarks/peers/bde_peer.py ROWS.npz RESULTS.npz --seed 0

`ROWS.npz` has x, y and x_test; the results are mean, sd and raw outputs of all draws at the test
rows, and the seconds of `fit`. Each member has a device of its own, as its documentation asks.
"""

import argparse
import os
import time

MEMBERS = 10
os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={MEMBERS}"

import numpy as np  # noqa: E402 - the number of devices is read by the import of JAX
from bde import BdeRegressor  # noqa: E402
from bde.loss import GaussianNLL  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("rows")
    parser.add_argument("results")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    rows = np.load(given.rows)
    model = BdeRegressor(
        n_members=MEMBERS,
        hidden_layers=[16] * 4,
        loss=GaussianNLL(),
        epochs=1200,
        validation_split=0.15,
        lr=1e-3,
        weight_decay=1e-4,
        warmup_steps=50_000,
        n_samples=1000,
        n_thinning=10,
        patience=20,
        seed=given.seed,
    )
    started, used = time.perf_counter(), time.process_time()
    model.fit(rows["x"], rows["y"])
    seconds, processor = time.perf_counter() - started, time.process_time() - used
    mean, sd = model.predict(rows["x_test"], mean_and_std=True)
    raw = np.asarray(model.predict(rows["x_test"], raw=True))
    np.savez(given.results, mean=mean, sd=sd, raw=raw, seconds=seconds, processor=processor)


if __name__ == "__main__":
    main()
