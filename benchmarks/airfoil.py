"""An ensemble of sampled networks on the airfoil data.

    python benchmarks/airfoil.py                     # split 0, five seeds
    python benchmarks/airfoil.py --seeds 0           # one seed; about a minute on two cores
    python benchmarks/airfoil.py --draws 0           # the deep ensemble alone

Ten members with four hidden layers of 16; 80/20 by scikit-learn's `train_test_split`; inputs and
target standardised by the training part. NLL is that of a normal distribution with the predictive
mean and standard deviation, of the standardised target, as in the published figures; the NLL of the
mixture is the next column.
"""

import argparse
import time
from pathlib import Path

import numpy as np
from scipy import stats
from sklearn.model_selection import train_test_split

import kinetograph as kg

FILE = Path(__file__).parent / "data" / "airfoil.csv"


def split(number: int) -> list[np.ndarray]:
    """Training and test parts of inputs and standardised target."""
    table = np.loadtxt(FILE, delimiter=",", skiprows=1)
    parts = train_test_split(table[:, :-1], table[:, -1], test_size=0.2, random_state=number)
    x, x_test, y, y_test = parts
    return [x, x_test, (y - y.mean()) / y.std(), (y_test - y.mean()) / y.std()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--split", type=int, default=0)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2, 3, 4])
    parser.add_argument("--members", type=int, default=10)
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--thin", type=int, default=100)
    parser.add_argument("--warmup", type=int, default=10_000)
    parser.add_argument("--activation", default="silu")
    parser.add_argument("--prior", type=float, default=1.0)
    given = parser.parse_args()
    x, x_test, y, y_test = split(given.split)
    network = kg.neural.mlp([16] * 4, given.activation)
    print("| seed | RMSE | NLL | NLL of the mixture | coverage of 90 % | seconds |")
    print("|---|---|---|---|---|---|")
    for seed in given.seeds:
        started = time.perf_counter()
        model = kg.neural.EnsembleRegressor(
            network,
            members=given.members,
            draws=given.draws,
            thin=given.thin,
            warmup=given.warmup,
            prior=given.prior,
            seed=seed,
        ).fit(x, y)
        seconds = time.perf_counter() - started
        mean, sd = model.predict(x_test, return_std=True)
        low, high = model.predict_interval(x_test, 0.9).T
        print(
            f"| {seed} | {np.sqrt(np.mean((mean - y_test) ** 2)):.4f} "
            f"| {-stats.norm(mean, sd).logpdf(y_test).mean():.4f} "
            f"| {-model.log_score(x_test, y_test).mean():.4f} "
            f"| {np.mean((low < y_test) & (y_test < high)):.3f} | {seconds:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
