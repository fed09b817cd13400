"""The share of chains that default runs lose, over many models.

    python benchmarks/reliability.py                   # all models; half an hour on two cores
    python benchmarks/reliability.py --models arma hmm
    python benchmarks/reliability.py --initial random  # another way to start
    python benchmarks/reliability.py --peers kinetograph numpyro nutpie --write

A chain is lost if its mean log density is five posterior standard deviations below that of the
better half of the chains, or if the standard deviation of its log density is below a tenth of
that of the better half. The column tail has the share of draws below the 99 % quantile of an
unknown with a long tail, which steps that are too long do not reach. The peers sample the same
densities from uniform starting points, as they do by default.
"""

import argparse
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from environments import environment
from records import record
from scipy.integrate import solve_ivp
from scores import score
from table import OURS

import kinetograph as kg

HERE = Path(__file__).resolve().parent
CHAINS = 96  # 24 runs of 4


def arma() -> kg.Model:
    """ARMA(1, 1), 200 observations; errors explode for coefficients above 1."""
    rng = np.random.default_rng(3)
    noise, y = 0.4 * rng.normal(size=201), np.zeros(201)
    for t in range(1, 201):
        y[t] = 0.2 + 0.7 * y[t - 1] + noise[t] + 0.5 * noise[t - 1]
    data = kg.data(y[1:], name="y")
    mu, phi = kg.normal(0, 10, name="mu"), kg.normal(0, 2, name="phi")
    theta, sigma = kg.normal(0, 2, name="theta"), kg.half_cauchy(2.5, name="sigma")

    def error(carry: Any, y: Any) -> Any:
        before, last = carry
        found = y - (mu + phi * before + theta * last)
        return (y, found), found

    first = data[0] - (mu + phi * mu)
    _, errors = kg.scan(error, (data[0], first), data[1:])
    factor = kg.log_density(kg.normal(0, sigma), errors).sum()
    factor += kg.log_density(kg.normal(0, sigma), first)
    return kg.model(mu, phi, theta, sigma, factors=[factor])


def hmm() -> kg.Model:
    """A hidden Markov model of two states with a second, lower mode."""
    rng = np.random.default_rng(4)
    state, states = 0, []
    for _ in range(200):
        state = int(rng.random() < (0.1 if state == 0 else 0.85))
        states.append(state)
    y = kg.data(rng.normal(np.array([3.0, 9.0])[states], 1.0), name="y")
    p, q = kg.uniform(0, 1, name="p"), kg.uniform(0, 1, name="q")
    mu = kg.ordered_variable(2, name="mu")
    sigma = kg.half_normal(2, shape=2, name="sigma")
    emission = -0.5 * ((y[:, None] - mu) / sigma) ** 2 - kg.log(sigma)
    moves = kg.log(kg.stack([kg.stack([p, 1 - p]), kg.stack([q, 1 - q])]))

    def forward(alpha: Any, seen: Any) -> Any:
        return kg.logsumexp(alpha[:, None] + moves, axis=0) + seen, kg.sum(alpha[0] * 0)

    alpha, _ = kg.scan(forward, emission[0], emission[1:])
    prior = -0.5 * ((mu - np.array([3.0, 10.0])) / 5) ** 2
    return kg.model(p, q, mu, sigma, factors=[kg.logsumexp(alpha), kg.sum(prior)])


def one_compartment() -> kg.Model:
    """Michaelis-Menten elimination with first-order absorption, 20 measurements."""
    times = np.linspace(0.5, 19, 20)
    truth = {"k_a": 0.7, "v_m": 1.1, "k_m": 3.0}

    def rate(t: Any, c: Any, k_a: Any, v_m: Any, k_m: Any, exp: Callable[[Any], Any]) -> Any:
        return -v_m * c / (k_m + c) + exp(-k_a * t) * 10.0 * k_a / 2.0

    by_scipy = solve_ivp(
        lambda t, c: rate(t, c, **truth, exp=np.exp), (0, 20), [0.0], t_eval=times, rtol=1e-9
    )
    rng = np.random.default_rng(5)
    y = kg.data(by_scipy.y[0] * np.exp(0.15 * rng.normal(size=20)), name="y")
    k_a, v_m = kg.half_cauchy(1, name="k_a"), kg.half_cauchy(1, name="v_m")
    k_m, sigma = kg.half_cauchy(1, name="k_m"), kg.half_cauchy(1, name="sigma")
    c = kg.ode.solve(
        lambda t, c: rate(t, c, k_a, v_m, k_m, kg.exp), 0.0, np.concatenate([[0.0], times])
    )
    kg.observe(y, kg.lognormal(kg.log(kg.maximum(c[1:], 1e-10)), sigma))
    return kg.model(k_a, v_m, k_m, sigma)


def gp_counts() -> kg.Model:
    """Counts whose log rates follow a Gaussian process at 11 points."""
    x = np.linspace(-10, 10, 11)
    counts = np.array([40, 37, 29, 12, 4, 3, 9, 19, 77, 82, 33])
    rho, alpha = kg.gamma(25, 4, name="rho"), kg.half_normal(2, name="alpha")
    z = kg.normal(0, 1, shape=11, name="z")
    squares = (x[:, None] - x) ** 2
    covariance = alpha**2 * kg.exp(-squares / (2 * rho**2)) + 1e-10 * np.eye(11)
    f = kg.cholesky(covariance) @ z
    kg.observe(kg.data(counts, name="k"), kg.poisson(kg.exp(f)))
    return kg.model(rho, alpha, z)


def eight_schools() -> kg.Model:
    """The non-centred hierarchy."""
    y = np.array([28.0, 8, -3, 7, -1, 1, 18, 12])
    sd = np.array([15.0, 10, 16, 11, 9, 11, 10, 18])
    mu, tau = kg.normal(0, 5, name="mu"), kg.half_cauchy(5, name="tau")
    z = kg.normal(0, 1, shape=8, name="z")
    kg.observe(kg.data(y, name="y"), kg.normal(mu + tau * z, sd))
    return kg.model(mu, tau, z)


def logistic() -> kg.Model:
    """1000 outcomes, 25 predictors."""
    rng = np.random.default_rng(6)
    x, beta = rng.normal(size=(1000, 25)), rng.normal(size=25)
    b = kg.normal(0, 2.5, shape=25, name="b")
    y = kg.data((rng.random(1000) < 1 / (1 + np.exp(-x @ beta))).astype(int), name="y")
    kg.observe(y, kg.bernoulli(kg.ilogit(kg.data(x, name="x") @ b)))
    return kg.model(b)


def uncentred() -> kg.Model:
    """A regression on uncentred years: strongly correlated intercept and slope."""
    rng = np.random.default_rng(7)
    year = np.arange(1960.0, 2010.0)
    y = kg.data(0.03 * (year - 1985) + 12 + 0.3 * rng.normal(size=50), name="y")
    a, b = kg.normal(0, 1000, name="a"), kg.normal(0, 10, name="b")
    sigma = kg.half_normal(5, name="sigma")
    kg.observe(y, kg.normal(a + b * kg.data(year, name="year"), sigma))
    return kg.model(a, b, sigma)


def garch() -> kg.Model:
    """GARCH(1, 1), 300 observations."""
    rng = np.random.default_rng(8)
    y, variance = np.zeros(300), 1.0
    for t in range(300):
        y[t] = 0.5 + np.sqrt(variance) * rng.normal()
        variance = 0.3 + 0.4 * (y[t] - 0.5) ** 2 + 0.4 * variance
    data = kg.data(y, name="y")
    mu = kg.normal(0, 10, name="mu")
    a0 = kg.half_normal(5, name="a0")
    a1, b1 = kg.uniform(0, 1, name="a1"), kg.uniform(0, 1, name="share")

    def forward(variance: Any, y: Any) -> Any:
        return a0 + a1 * (y - mu) ** 2 + b1 * (1 - a1) * variance, variance

    _, variances = kg.scan(forward, kg.data(1.0, name="first") + 0 * mu, data)
    kg.observe(data, kg.normal(mu, kg.sqrt(variances)))
    return kg.model(mu, a0, a1, b1)


def mixture() -> kg.Model:
    """A mixture of two overlapping normals with ordered means."""
    rng = np.random.default_rng(9)
    y = kg.data(np.concatenate([rng.normal(-2.7, 1, 400), rng.normal(2.9, 1, 600)]), name="y")
    mu, sigma = kg.ordered_variable(2, name="mu"), kg.half_normal(2, shape=2, name="sigma")
    share = kg.beta(5, 5, name="share")
    each = kg.log_density(kg.normal(mu, sigma), y[:, None])
    both = kg.logaddexp(kg.log(share) + each[:, 0], kg.log1p(-share) + each[:, 1])
    return kg.model(mu, sigma, share, factors=[kg.sum(both), kg.sum(-0.5 * (mu / 2) ** 2)])


def student() -> kg.Model:
    """A regression with heavy-tailed errors and outliers."""
    rng = np.random.default_rng(10)
    x = rng.normal(size=(100, 3))
    y = x @ [1.0, -2.0, 0.5] + 0.5 * rng.standard_t(2, size=100)
    y[:3] += 100.0
    b, nu = kg.normal(0, 10, shape=3, name="b"), kg.gamma(2, 0.1, name="nu")
    sigma = kg.half_normal(5, name="sigma")
    kg.observe(kg.data(y, name="y"), kg.student(nu, kg.data(x, name="x") @ b, sigma))
    return kg.model(b, nu, sigma)


def stochastic_volatility() -> kg.Model:
    """100 returns with autoregressive log volatility."""
    rng = np.random.default_rng(11)
    h = np.zeros(100)
    for t in range(1, 100):
        h[t] = 0.95 * h[t - 1] + 0.25 * rng.normal()
    y = kg.data(np.exp(h / 2 - 0.5) * rng.normal(size=100), name="y")
    mu, phi = kg.normal(0, 5, name="mu"), kg.beta(20, 1.5, name="phi")
    sigma = kg.half_normal(1, name="sigma")
    z = kg.normal(0, 1, shape=100, name="z")
    first = z[0] / kg.sqrt(1 - phi**2)
    _, rest = kg.scan(lambda h, e: (phi * h + e, phi * h + e), first, z[1:])
    volatility = mu + sigma * kg.concatenate([first[None], rest])
    kg.observe(y, kg.normal(0, kg.exp(volatility / 2)))
    return kg.model(mu, phi, sigma, z)


def counts() -> kg.Model:
    """Negative binomial counts with a large intercept."""
    rng = np.random.default_rng(12)
    x = rng.normal(size=200)
    y = kg.data(rng.poisson(np.exp(6.0 + 0.8 * x) * rng.gamma(3, 1 / 3, 200)), name="y")
    a, b = kg.normal(0, 10, name="a"), kg.normal(0, 5, name="b")
    size = kg.half_normal(10, name="size")
    rate = kg.exp(a + b * kg.data(x, name="x"))
    kg.observe(y, kg.negative_binomial(size, size / (size + rate)))
    return kg.model(a, b, size)


MODELS: dict[str, Callable[[], kg.Model]] = {
    function.__name__: function
    for function in (
        arma,
        hmm,
        one_compartment,
        gp_counts,
        eight_schools,
        logistic,
        uncentred,
        garch,
        mixture,
        student,
        stochastic_volatility,
        counts,
    )
}


# An unknown with a long tail and its 99 % quantile, from 8 x 10,000 draws at an acceptance of 0.99.
TAILS = {"gp_counts": ("alpha", 5.227)}
COLUMNS = {
    "model": "{}",
    "lost of 96": "{}",
    "divergences": "{}",
    "R-hat": "{:.3f}",
    "ESS per 1000 gradients": "{:.3g}",
    "tail": "{}",
    "gradients of a start": "{}",
    "gradients a chain": "{:.0f}",
}


def lost(lp: np.ndarray) -> np.ndarray:
    """The lost chains, by their log densities."""
    mean, spread = lp.mean(1), lp.std(1)
    better = mean >= np.median(mean)
    return (mean < mean[better].mean() - 5 * np.median(spread[better])) | (
        spread < 0.1 * np.median(spread[better])
    )


def by_kinetograph(model: kg.Model, options: dict[str, Any]) -> dict[str, Any]:
    """One default run of many chains."""
    tree = kg.mcmc(model, chains=CHAINS, seed=1, progress=False, **options)
    stats, state = tree["sample_stats"], tree["sampler_state"]
    posterior = tree["posterior"]
    return {
        "draws": {name: posterior[name].values for name in model.names},
        "lp": stats["lp"].values,
        "diverging": stats["diverging"].values,
        "gradients": int(state["gradients"].sum()),
        "start": f"{float(state['start_gradients'].mean()):.0f}",
    }


def by_peer(peer: str, name: str, *options: str, limit: float | None = None) -> dict[str, Any]:
    """A default run of a library in its own process: see peers/density_peer.py.

    Raises
    ------
    TimeoutExpired
        If it exceeds the time limit.
    """
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run.npz"
        command = [environment("reliability"), HERE / "peers" / "density_peer.py"]
        subprocess.run([*command, peer, name, out, *options], check=True, timeout=limit)
        with np.load(out) as saved:
            found = dict(saved)
    of = "draws of "
    draws = {key.removeprefix(of): found.pop(key) for key in list(found) if key.startswith(of)}
    return {**found, "draws": draws, "start": "-"}


def scored(draws: dict[str, np.ndarray]) -> dict[str, Any]:
    """The least effective sample sizes and the largest R-hat."""
    return score(np.concatenate([v.reshape(*v.shape[:2], -1) for v in draws.values()], -1))


def study(name: str, peer: str, options: dict[str, Any], limit: float) -> dict[str, Any] | None:
    """The results of a model; None if a peer timed out."""
    if peer == OURS:
        found = by_kinetograph(MODELS[name](), options)
    else:
        try:
            found = by_peer(peer, name, "--chains", str(CHAINS), limit=limit)
        except subprocess.TimeoutExpired:
            return None
    away = lost(found["lp"])
    draws = {key: values[~away] for key, values in found["draws"].items()}
    worst = scored(draws)
    tail = "-"
    if name in TAILS:
        unknown, quantile = TAILS[name]
        tail = f"{np.mean(draws[unknown] < quantile):.4f}"
    return {
        "model": name,
        "lost of 96": int(away.sum()),
        "divergences": int(found["diverging"].sum()),
        "R-hat": worst["rhat"],
        "ESS per 1000 gradients": 1000 * worst["ess_bulk"] / int(found["gradients"]),
        "tail": tail,
        "gradients of a start": found["start"],
        "gradients a chain": int(found["gradients"]) / CHAINS,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=list(MODELS))
    parser.add_argument("--peers", nargs="+", default=[OURS], choices=[OURS, "numpyro", "nutpie"])
    parser.add_argument("--initial", default=None, help="as in kg.mcmc")
    parser.add_argument("--limit", type=float, default=1200.0, help="seconds of a peer and model")
    parser.add_argument("--write", action="store_true", help="keep the tables in results/")
    args = parser.parse_args()
    warnings.simplefilter("ignore", kg.SamplingWarning)
    options = {} if args.initial is None else {"initial": args.initial}
    rows, lines = [], []
    for peer in args.peers:
        head = "| " + " | ".join(COLUMNS) + " |"
        lines += [f"## {peer}", "", head, "|---" * len(COLUMNS) + "|"]
        print("\n".join(lines[-4:]))
        for name in args.models:
            begun = time.perf_counter()
            row = study(name, peer, options, args.limit)
            if row is None:
                shown = [name, f"not within {args.limit:.0f} s"] + ["-"] * (len(COLUMNS) - 2)
            else:
                rows.append({"peer": peer, **row})
                shown = [form.format(row[key]) for key, form in COLUMNS.items()]
            lines.append("| " + " | ".join(shown) + " |")
            print(lines[-1], f"{time.perf_counter() - begun:.0f} s", flush=True)
        lines.append("")
    if args.write:
        record("reliability", "\n".join(lines), rows=rows)


if __name__ == "__main__":
    main()
