"""An ensemble of sampled networks on the airfoil data.

    python benchmarks/airfoil.py                     # split 0, five seeds
    python benchmarks/airfoil.py --seeds 0           # one seed; about a minute on two cores
    python benchmarks/airfoil.py --draws 0           # the deep ensemble alone
    python benchmarks/airfoil.py --peers bde         # scikit-learn-contrib's bde, too

Ten members with four hidden layers of 16; 80/20 by scikit-learn's `train_test_split`; inputs and
target standardised by the training part. NLL is that of a normal distribution with the predictive
mean and standard deviation, of the standardised target, as in the published figures; the NLL of the
mixture is the next column. Seconds of the processor, of all threads, are in brackets.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from environments import HERE, environment
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


def bde(parts: list[np.ndarray], seed: int) -> str:
    """The columns of a run of bde, in its own environment."""
    x, x_test, y, y_test = parts
    mean, sd = x.mean(0), x.std(0)
    with tempfile.TemporaryDirectory() as folder:
        given, result = Path(folder) / "rows.npz", Path(folder) / "result.npz"
        np.savez(given, x=(x - mean) / sd, y=y, x_test=(x_test - mean) / sd)
        script = HERE / "peers" / "bde_peer.py"
        command = [environment("bde"), script, given, result, "--seed", seed]
        subprocess.run(list(map(str, command)), check=True, stdout=sys.stderr)
        return of_bde(result, y_test)


def of_bde(result: Path, y_test: np.ndarray) -> str:
    """The columns of stored results of bde; noise is softplus(s) + 1e-6."""
    with np.load(result) as found:
        raw = found["raw"].reshape(-1, *found["raw"].shape[2:])
        mean, sd = found["mean"].ravel(), found["sd"].ravel()
        seconds = [float(found[name]) for name in ("seconds", "processor")]
    each = stats.norm(raw[..., 0], np.logaddexp(0, raw[..., 1]) + 1e-6)
    inside = abs(each.cdf(y_test).mean(0) - 0.5) < 0.45
    return scores(mean, sd, np.log(each.pdf(y_test).mean(0)), inside, y_test, seconds)


def scores(
    mean: np.ndarray,
    sd: np.ndarray,
    mixture: np.ndarray,
    inside: np.ndarray,
    y_test: np.ndarray,
    seconds: list[float],
) -> str:
    """The columns of a run."""
    return (
        f"| {np.sqrt(np.mean((mean - y_test) ** 2)):.4f} "
        f"| {-stats.norm(mean, sd).logpdf(y_test).mean():.4f} "
        f"| {-mixture.mean():.4f} | {inside.mean():.3f} | {seconds[0]:.0f} ({seconds[1]:.0f}) |"
    )


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
    parser.add_argument("--peers", nargs="*", default=[], choices=["bde"])
    given = parser.parse_args()
    x, x_test, y, y_test = split(given.split)
    network = kg.neural.mlp([16] * 4, given.activation)
    print("| seed | RMSE | NLL | NLL of the mixture | coverage of 90 % | seconds |")
    print("|---|---|---|---|---|---|")
    for seed in given.seeds:
        started, used = time.perf_counter(), time.process_time()
        model = kg.neural.EnsembleRegressor(
            network,
            members=given.members,
            draws=given.draws,
            thin=given.thin,
            warmup=given.warmup,
            prior=given.prior,
            seed=seed,
        ).fit(x, y)
        seconds = [time.perf_counter() - started, time.process_time() - used]
        mean, sd = model.predict(x_test, return_std=True)
        low, high = model.predict_interval(x_test, 0.9).T
        inside = (low < y_test) & (y_test < high)
        mixture = model.log_score(x_test, y_test)
        print(f"| {seed} {scores(mean, sd, mixture, inside, y_test, seconds)}", flush=True)
        for _ in given.peers:
            print(f"| bde, {seed} {bde([x, x_test, y, y_test], seed)}", flush=True)


if __name__ == "__main__":
    main()
