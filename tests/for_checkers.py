"""What users write that is right, for type checkers to say nothing of; it is never run."""

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import xarray as xr
from scipy import special

import kinetograph as kg

X = np.ones((5, 3))
beta = kg.normal(0, 1, shape=3, name="beta")
tau = kg.half_normal(1, name="tau")
each = [beta[0], tau]
named = {"beta": beta, "tau": tau}

# NumPy's, SciPy's and Python's own functions and operators of arrays.
mean = X @ beta + np.exp(tau)
rate = special.expit(beta)
total = sum(each)
largest = max(beta.sum(), tau)
first, second, third = beta
for i in range(3):
    mean = mean + X[:, i] * beta[i]
picked = beta[[0, 1]], beta[0, ..., None], beta[beta > 0], beta[::-1].T @ beta
decided = (beta > 0) & (beta < 1) | ~(beta == 3)
computed = -(abs(beta) ** 2) // 3 % 2 + divmod(beta, 2)[0] + 2**beta + [1.0, 2.0, 3.0]
others = tau * jnp.ones(3) * xr.DataArray([1.0]) * [tau, 1.0, 2.0] * np.float32(2)

# They are given where arrays are wanted.
y = kg.observe(np.zeros(5), kg.normal(mean, tau))
term = kg.factor(-np.exp(beta)), kg.factor(-np.sum(beta**2))
held = kg.wall(np.exp(tau), lower=1.0), kg.tether(np.exp(tau))
model = kg.model(beta, mean, np.exp(tau), coords={"row": [1]}, factors=[np.sin(beta)])
models = kg.model(total, largest), kg.model(*each, rate=rate), kg.model(**named)
found = kg.calculate(np.exp(beta), square=beta**2, values=named), kg.debug(np.exp(tau), {tau: 1.0})
function = kg.compile([beta], [np.exp(beta), {"tau": tau}])
slopes = kg.gradients(np.exp(tau), tau) + kg.gradients(np.exp(tau), [tau])[0]
kernel: kg.gp.Kernel = tau**2 * kg.gp.rbf(0.5) + 0.1 * kg.gp.rbf(tau)


# Data, shapes and dims; distributions and what is made of them.
frame = pd.DataFrame({"group": ["a", "b"], "x": [1.0, 2.0]})
groups = kg.dim("group", frame["group"].unique())
effect = kg.normal(0, [1, 2], dims=groups, truncation=(0, None))
picked_by = effect[frame["group"].factorize()[0]] + effect[kg.data(frame["x"].astype(int)) - 1]
kg.observe(frame["x"], kg.normal(picked_by, 1), name="x")
fixed = kg.do(model, {tau: 1.0}), kg.condition(model, {"beta": np.zeros(3)})
mixed = kg.mixture(*[kg.normal(k, 1) for k in range(3)], weights=kg.dirichlet(np.ones(3)))
law = kg.cdf(mixed, 1.0) + kg.quantile(kg.normal(0, 1), 0.5) + kg.expectation(kg.poisson(3))
same = kg.normal(mu=0, sigma=tau), kg.beta(alpha=2, beta=3), kg.beta(2, beta=3)
same = kg.gamma(2, beta=3), kg.negative_binomial(mu=tau, phi=2), kg.student(nu=3, loc=1)
bounded = kg.variable(lower=0, upper=1, shape=(2, 3)), kg.ordered_variable(3)
solved, events = kg.ode.solve(lambda t, y: -y, tau, np.arange(3.0), events=lambda t, y: y - 1)
drawn = kg.RandomStreams(1).normal(0, tau, shape=3) + kg.random.choice(beta)
drawn = kg.random.gamma(alpha=2, beta=3, shape=3) + kg.random.binomial(n=3, p=0.5)
lifted = kg.lift(jnp.sin)(beta) + jax.grad(model.log_density)(jnp.zeros(4))
with kg.precision("float32"):
    beta += kg.data([1.0, 2.0, 3.0])
state = kg.state(0, name="calls")
print(state.assign_add(1) + beta.at[0].set(1.0).reshape(3, 1).max(axis=0, keepdims=True))
print(function([1.0, 2.0, 3.0])[0].tolist(), function.state[state], kg.explain(function))
kg.draw_graph([beta, tau]).save("graph.svg")


# Classes and functions of users.
class Sinh(kg.Bijector):
    def forward(self, u):
        return np.sinh(u)

    def inverse(self, x):
        return np.arcsinh(x)

    def log_det(self, u):
        return np.log(np.cosh(u))


class Walk(kg.Sampler):
    step_size = kg.hyper(0.1, positive=True)

    def init(self, at):
        return {"p": np.zeros(3)}

    def step(self, at, p):
        new = self.evaluate(at.q + self.step_size * self.noise("R", like=at.q))
        if self.noise.uniform(name="u") < np.exp(at.potential - new.potential):
            at = new
        self.record("largest", np.max(abs(at.q)))
        return at, {"p": p}


@kg.function(static_argnames="n")
def sums(x: kg.Array, n: int = 3) -> kg.Array:
    for i in kg.range(n):
        x = x + i
    while x.sum() > 3:
        x /= 2
    return x


class Counter:
    @kg.function
    def add(self, x):
        return x + 1


@kg.distribution
def laplacian(x, mu):
    return -abs(x - mu)


@kg.autograph.convert
def halved(x, *, times=1):
    while x > times:
        x = x / 2
    return x


def fitted(model: kg.Model, seed: np.int64) -> xr.DataTree:
    return kg.mcmc(model, initial={"tau": 1.0}, seed=seed, chains=range(4, 8), store="run.zarr")


called = sums(3.0), sums(np.ones(3), n=2), Counter().add(3.0), laplacian(tau)
carry, rows = kg.scan(lambda c, t: (c + t, c), 0.0, beta)
branches = kg.cond(tau > 0, lambda: tau, lambda: -tau) + kg.vmap(lambda v: v * 2)(beta)
count = kg.while_loop(lambda i: i < kg.range(tau).length, lambda i: i + 1, [0])

# Runs and their results.
sampler = Walk(step_size=0.2)
sampler.step_size = 0.3
results = kg.mcmc(model, sampler, draws=10, callback=lambda so_far: print(so_far.draws))
results = kg.extra_samples(results, model, draws=10)
asked = [kg.observables.virial, "energy", lambda step: step.q]
results = kg.mcmc(model, draws=None, until=kg.until(ess=400), averages=asked, keep=["tau"])
opened = xr.open_datatree("results.nc")
for tree in (results, opened, kg.simulate(model), kg.predict(model, opened), kg.advi(model)):
    print(kg.summary(tree), kg.diagnose(tree), kg.report(tree), kg.extra_samples(tree, model))
for name, variable in results["posterior"].items():
    print(name, float(variable.mean()), results.posterior.beta.values)
loglik = kg.log_likelihood(model, results)["log_likelihood"]["y"].sum()
best = kg.opt(model, hessian=True)
print(best["beta"].mean(), best.standard_errors["beta"], best.hessian @ np.ones(4))
chain = kg.chain(model, sampler, seed=1)
print(chain.step(10).sample_stats["largest"])
chain.hyper["step_size"] = 0.1
for batch in kg.Dataset({"x": X}).shuffle(seed=1).batch(2):
    print(batch.x)
