"""Long reference runs of NumPyro's NUTS for the tests of models.

    python benchmarks/references.py              # all, half an hour on two cores
    python benchmarks/references.py iris network

The models are written by hand, without kinetograph, and discrete unknowns are marginalised by hand.
`tests/references/NAME.json` has the data, and mean, sd, standard error and effective sample size of
each quantity.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from environments import environment

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "tests" / "references"
PEER = "REFERENCES_IN_PEER"
CHAINS, WARMUP, DRAWS = 4, 2000, 10_000

Data = dict[str, Any]


def sparse_data() -> Data:
    """Data of a regression with two nonzero of fifteen coefficients."""
    rng = np.random.default_rng(1)
    truth = np.array([4.0, -2.0] + 13 * [0.0])
    x = rng.normal(size=(25, 15))
    return {"x": x, "y": x @ truth + rng.normal(0, 2, size=25)}


def stored(name: str) -> Callable[[], Data]:
    """Data that are stored in the reference file itself."""

    def read() -> Data:
        found = json.loads((FOLDER / f"{name}.json").read_text())["data"]
        return {k: np.array(v) for k, v in found.items()}

    return read


def network_data() -> Data:
    """Data on a nonlinear curve."""
    rng = np.random.default_rng(2)
    x = np.sort(rng.uniform(-2, 2, size=40))
    y = np.sin(2 * x) + 0.2 * rng.normal(size=40)
    return {"x": x, "y": y, "grid": np.linspace(-2.5, 2.5, 11)}


def species_data() -> Data:
    """Twelve species in thirty ponds, each visited four times."""
    rng = np.random.default_rng(1)
    common, easy = rng.beta(3, 3, size=(12, 1)), rng.beta(2, 6, size=(12, 1))
    return {"visits": rng.binomial(4, easy * (rng.random((12, 30)) < common))}


def wet_data() -> Data:
    """Eight species in forty ponds of different depth, each visited five times."""
    rng = np.random.default_rng(4)
    depth = rng.normal(size=40)
    eta = rng.normal(0.3, 1.0, size=(8, 1)) + rng.normal(0.8, 0.6, size=(8, 1)) * depth
    there = rng.random((8, 40)) < 1 / (1 + np.exp(-eta))
    return {"depth": depth, "visits": rng.binomial(5, rng.beta(4, 4, size=(8, 1)) * there)}


def counts_data() -> Data:
    """Counts of two columns and different exposures."""
    rng = np.random.default_rng(3)
    x, hours = rng.normal(size=(60, 2)), rng.uniform(1, 9, size=60)
    return {"x": x, "hours": hours, "k": rng.poisson(hours * np.exp(0.3 + x @ [0.5, -0.2]))}


def of_example(name: str) -> Callable[[], Data]:
    """The data of an example."""

    def read() -> Data:
        found = json.loads((ROOT / "examples" / "data" / f"{name}.json").read_text())
        return {k: np.array(v) for k, v in found.items()}

    return read


def models() -> dict[str, tuple[Callable[[], Data], Callable[..., Any], tuple[str, ...]]]:
    """Data, model and quantities of each reference; imports the peer."""
    import jax.numpy as jnp
    import numpyro
    import numpyro.distributions as dist
    from jax.nn import log_sigmoid, sigmoid
    from jax.scipy.special import gammaln

    sample, note = numpyro.sample, numpyro.deterministic

    def linear(b: Any, x: Any, y: Any) -> None:
        sample("y", dist.Normal(x @ b, sample("error", dist.HalfCauchy(2.0))), obs=y)

    def ridge(x: Any, y: Any) -> None:
        width = sample("width", dist.HalfNormal(2.0))
        linear(note("b", width * sample("z", dist.Normal(0, 1).expand([15]))), x, y)

    def lasso(x: Any, y: Any) -> None:
        width = sample("width", dist.HalfNormal(2.0))
        linear(note("b", width * sample("z", dist.Laplace(0, 1).expand([15]))), x, y)

    def horseshoe(x: Any, y: Any) -> None:
        width = sample("all", dist.HalfCauchy(0.2)) * sample(
            "each", dist.HalfCauchy(1.0).expand([15])
        )
        linear(note("b", width * sample("z", dist.Normal(0, 1).expand([15]))), x, y)

    def finnish_horseshoe(x: Any, y: Any) -> None:
        width = sample("all", dist.HalfCauchy(0.2)) * sample(
            "each", dist.HalfCauchy(1.0).expand([15])
        )
        width = width / jnp.sqrt(1 + (width / 4) ** 2)
        linear(note("b", width * sample("z", dist.Normal(0, 1).expand([15]))), x, y)

    def spike_and_slab(x: Any, y: Any) -> None:
        share = sample("share", dist.Beta(1, 1))
        b = sample("b", dist.ImproperUniform(dist.constraints.real, (), (15,)))
        log_density = jnp.logaddexp(
            jnp.log1p(-share) + dist.Normal(0, 0.3).log_prob(b),
            jnp.log(share) + dist.Normal(0, 3).log_prob(b),
        )
        numpyro.factor("prior", log_density.sum())
        linear(b, x, y)

    def iris(length: Any, width: Any, species: Any) -> None:
        usual, spread = sample("usual", dist.Normal(5, 5)), sample("spread", dist.HalfNormal(2))
        level = note("level", usual + spread * sample("z", dist.Normal(0, 1).expand([3])))
        slope, error = sample("slope", dist.Normal(0, 2)), sample("error", dist.HalfNormal(1))
        mean = level[species] + slope * (width - width.mean())
        sample("y", dist.Normal(mean, error), obs=length)

    def rats(grams: Any) -> None:
        middle, slope = sample("middle", dist.Normal(250, 100)), sample("slope", dist.Normal(0, 20))
        spread, error = sample("spread", dist.HalfNormal(50)), sample("error", dist.HalfNormal(20))
        middles = middle + spread * sample("z", dist.Normal(0, 1).expand([30, 1]))
        days = jnp.array([-14.0, -7, 0, 7, 14])
        sample("y", dist.Normal(middles + slope * days, error), obs=grams)

    def network(x: Any, y: Any, grid: Any) -> None:
        inner = sample("inner", dist.Normal(0, 1).expand([2, 5]))
        outer = sample("outer", dist.Normal(0, 1).expand([5]))
        error = sample("error", dist.HalfNormal(1))

        def curve(x: Any) -> Any:
            return jnp.tanh(inner[0] + 2 * inner[1] * x[:, None]) @ outer

        note("curve", curve(grid))
        sample("y", dist.Normal(curve(x), error), obs=y)

    def binomial(k: Any, n: int, eta: Any) -> Any:
        choose = gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)
        return choose + k * log_sigmoid(eta) + (n - k) * log_sigmoid(-eta)

    def seen(visits: Any, n: int, occupied: Any, found: Any) -> None:
        """Add the likelihood of visits to ponds that are occupied or not."""
        both = log_sigmoid(occupied) + binomial(visits, n, found)
        none = jnp.where(visits == 0, log_sigmoid(-occupied), -jnp.inf)
        numpyro.factor("seen", jnp.logaddexp(both, none).sum())

    def species_apart(visits: Any) -> None:
        occupied = sample("occupied", dist.Beta(1, 1).expand([12]))
        found = sample("found", dist.Beta(1, 1).expand([12]))
        logits = [jnp.log(p) - jnp.log1p(-p) for p in (occupied, found)]
        seen(visits, 4, *(logit[:, None] for logit in logits))

    def species_together(visits: Any) -> None:
        usual = sample("usual", dist.Normal(0, 1.5).expand([2]))
        spread = sample("spread", dist.HalfNormal(1).expand([2]))
        eta = usual + spread * sample("z", dist.Normal(0, 1).expand([12, 2]))
        note("occupied", sigmoid(eta[:, 0]))
        seen(visits, 4, eta[:, :1], eta[:, 1:])

    def species_by_depth(depth: Any, visits: Any) -> None:
        usual = sample("usual", dist.Normal(0, 1.5).expand([3]))
        spread = sample("spread", dist.HalfNormal(1).expand([3]))
        eta = usual + spread * sample("z", dist.Normal(0, 1).expand([8, 3]))
        note("slope", eta[:, 1])
        seen(visits, 5, eta[:, :1] + eta[:, 1:2] * depth, eta[:, 2:])

    def poisson(x: Any, hours: Any, k: Any) -> None:
        level, slope = (
            sample("level", dist.Normal(0, 2)),
            sample("slope", dist.Normal(0, 1).expand([2])),
        )
        sample("k", dist.Poisson(hours * jnp.exp(level + x @ slope)), obs=k)

    def wells(**d: Any) -> None:
        """Flat priors; distance in 100 m, both centred, and their interaction."""
        beta = sample("beta", dist.ImproperUniform(dist.constraints.real, (), (4,)))
        near, high = (d["dist"] - d["dist"].mean()) / 100, d["arsenic"] - d["arsenic"].mean()
        eta = beta[0] + beta[1] * near + beta[2] * high + beta[3] * near * high
        sample("y", dist.Bernoulli(logits=eta), obs=d["switched"])

    def seeds(grown: Any, sown: Any, design: Any) -> None:
        b, spread = (
            sample("b", dist.Normal(0, 10).expand([4])),
            sample("spread", dist.HalfNormal(1)),
        )
        eta = design @ b + spread * sample("z", dist.Normal(0, 1).expand([21]))
        sample("y", dist.Binomial(sown, logits=eta), obs=grown)

    def air(ill: Any, children: Any, measured: Any) -> None:
        """True and measured exposure differ (Berkson error)."""
        theta = sample("theta", dist.Normal(0, 10).expand([2]))
        x = note("x", 4.48 + 0.76 * measured + 9 * sample("z", dist.Normal(0, 1).expand([3])))
        sample("y", dist.Binomial(children, logits=theta[0] + theta[1] * x), obs=ill)

    def irt_2pl(y: Any) -> None:
        items, persons = y.shape
        wide = dist.HalfCauchy(2.0)
        theta = sample("sigma_theta", wide) * sample("z", dist.Normal(0, 1).expand([persons]))
        a = note(
            "a", jnp.exp(sample("sigma_a", wide) * sample("u", dist.Normal(0, 1).expand([items])))
        )
        mu, sigma = sample("mu_b", dist.Normal(0, 5)), sample("sigma_b", wide)
        b = note("b", mu + sigma * sample("v", dist.Normal(0, 1).expand([items])))
        sample("y", dist.Bernoulli(logits=a[:, None] * (theta - b[:, None])), obs=y)

    def election88(**d: Any) -> None:
        b = sample("b", dist.Normal(0, 5).expand([5]))
        spread = sample("spread", dist.Gamma(2, 4).expand([5]))
        columns = [1.0, d["black"], d["female"], d["female"] * d["black"], d["previous"] - 0.5]
        eta = sum(b[i] * column for i, column in enumerate(columns))
        groups = [d["age"] - 1, d["edu"] - 1, 4 * (d["age"] - 1) + d["edu"] - 1]
        groups += [d["state"] - 1, d["region"] - 1]
        for i, (group, size) in enumerate(zip(groups, (4, 4, 16, 51, 5), strict=True)):
            z = sample(f"z{i}", dist.Normal(0, 1).expand([size]))
            if size == 51:
                note("state", spread[i] * z)
            eta = eta + spread[i] * z[group]
        sample("y", dist.Binomial(d["asked"], logits=eta), obs=d["bush"])

    return {
        "ridge": (sparse_data, ridge, ("b", "error")),
        "lasso": (sparse_data, lasso, ("b", "error")),
        "horseshoe": (sparse_data, horseshoe, ("b", "error")),
        "finnish_horseshoe": (sparse_data, finnish_horseshoe, ("b", "error")),
        "spike_and_slab": (sparse_data, spike_and_slab, ("b", "share", "error")),
        "iris": (stored("iris"), iris, ("usual", "spread", "level", "slope", "error")),
        "rats": (stored("rats"), rats, ("middle", "slope", "spread", "error")),
        "network": (network_data, network, ("curve", "error")),
        "species_apart": (species_data, species_apart, ("occupied", "found")),
        "species_together": (species_data, species_together, ("usual", "spread", "occupied")),
        "species_by_depth": (wet_data, species_by_depth, ("usual", "spread", "slope")),
        "poisson": (counts_data, poisson, ("level", "slope")),
        "wells": (of_example("wells"), wells, ("beta",)),
        "seeds": (stored("seeds"), seeds, ("b", "spread")),
        "air": (stored("air"), air, ("theta", "x")),
        "irt_2pl": (stored("irt_2pl"), irt_2pl, ("a", "b", "mu_b", "sigma_a", "sigma_b")),
        "election88": (of_example("election88"), election88, ("b", "spread", "state")),
    }


def statistics(draws: np.ndarray) -> dict[str, float]:
    """Statistics of one quantity from its draws (chain, draw)."""
    from numpyro.diagnostics import effective_sample_size, split_gelman_rubin

    assert split_gelman_rubin(draws) < 1.01, split_gelman_rubin(draws)
    size, sd = float(effective_sample_size(draws)), float(draws.std(ddof=1))
    found = {"mean": float(draws.mean()), "sd": sd, "mcse_mean": sd / size**0.5, "ess": size}
    return {name: float(f"{value:.8g}") for name, value in found.items()}


def run(name: str) -> None:
    """Run one model and write its reference file."""
    import jax
    from numpyro.infer import MCMC, NUTS

    data_of, model, quantities = models()[name]
    data = data_of()
    kernel = NUTS(model, target_accept_prob=0.99 if "horseshoe" in name else 0.95)
    chains = MCMC(
        kernel, num_warmup=WARMUP, num_samples=DRAWS, num_chains=CHAINS, progress_bar=False
    )
    chains.run(jax.random.key(1), **data)
    diverging = int(chains.get_extra_fields()["diverging"].sum())
    found: dict[str, dict[str, float]] = {}
    for quantity in quantities:
        draws = np.asarray(chains.get_samples(group_by_chain=True)[quantity])
        flat = draws.reshape(*draws.shape[:2], -1)
        for i in range(flat.shape[2]):
            found[f"{quantity}[{i}]" if draws.ndim > 2 else quantity] = statistics(flat[:, :, i])
    print(f"{name}: {diverging} of {CHAINS * DRAWS} diverging", flush=True)
    content: dict[str, Any] = {"diverging": diverging}
    if not (ROOT / "examples" / "data" / f"{name}.json").exists():
        content["data"] = {k: v.tolist() for k, v in data.items()}
    lines = ",\n".join(f'"{k}": {json.dumps(v)}' for k, v in found.items())
    text = json.dumps(content)[:-1] + f',\n"quantities": {{\n{lines}\n}}}}\n'
    (FOLDER / f"{name}.json").write_text(text)


def main() -> None:
    if PEER not in os.environ:
        python = environment("numpyro")
        settings = {PEER: "1", "JAX_PLATFORMS": "cpu", "JAX_ENABLE_X64": "1"}
        settings["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
        command = [str(python), *sys.argv]
        raise SystemExit(subprocess.run(command, env=os.environ | settings).returncode)
    for name in sys.argv[1:] or models():
        run(name)


if __name__ == "__main__":
    main()
