"""Recursions in plain Python, and by hand with `lax.scan`.

Each function here returns a pair of functions of one parameter, in kinetograph and in JAX; see
`loops.py`.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["RECURSIONS", "batch"]

Pair = tuple[Callable[[Any], Any], Callable[[Any], Any]]
PROBABILITIES = np.array([[0.8, 0.2], [0.3, 0.7]])
LEVELS = np.array([-1.0, 1.0])
TRANSITION = np.array([[0.9, 0.1], [0.0, 0.8]])


def autoregression(y: np.ndarray) -> Pair:
    """A buffer that is filled from its last row."""
    import jax.numpy as jnp
    from jax import lax

    import kinetograph as kg

    @kg.function
    def ours(p: Any) -> Any:
        x = np.zeros(len(y))
        for t in kg.range(1, len(y)):
            x[t] = 0.9 * kg.sin(x[t - 1]) * p + 0.1 * y[t]
        return (x**2).sum()

    def by_hand(p: Any) -> Any:
        def trip(x: Any, obs: Any) -> Any:
            x = 0.9 * jnp.sin(x) * p + 0.1 * obs
            return x, x

        return (lax.scan(trip, 0.0, jnp.asarray(y[1:]))[1] ** 2).sum()

    return ours, by_hand


def moving_average(y: np.ndarray) -> Pair:
    """ARMA(1, 1), by `enumerate`."""
    import jax.numpy as jnp
    from jax import lax

    import kinetograph as kg

    data = kg.data(y)

    @kg.function
    def ours(p: Any) -> Any:
        nu = np.zeros(len(y))
        error, before = 0.0, 0.0
        for t, obs in enumerate(data):
            mean = 0.1 * p + 0.4 * p * before + 0.3 * p * error
            nu[t] = mean
            error, before = obs - mean, obs
        return ((data - nu) ** 2).sum()

    def by_hand(p: Any) -> Any:
        def trip(state: Any, obs: Any) -> Any:
            before, error = state
            mean = 0.1 * p + 0.4 * p * before + 0.3 * p * error
            return (obs, obs - mean), mean

        nu = lax.scan(trip, (0.0, 0.0), jnp.asarray(y))[1]
        return ((y - nu) ** 2).sum()

    return ours, by_hand


def two_buffers(y: np.ndarray) -> Pair:
    """ARMA(1, 1) with two buffers, by index."""
    import kinetograph as kg

    data = kg.data(y)

    @kg.function
    def ours(p: Any) -> Any:
        nu, error = np.zeros(len(y)), np.zeros(len(y))
        nu[0] = 0.1 * p
        error[0] = data[0] - nu[0]
        for t in kg.range(1, len(y)):
            nu[t] = 0.1 * p + 0.4 * p * data[t - 1] + 0.3 * p * error[t - 1]
            error[t] = data[t] - nu[t]
        return (error**2).sum()

    return ours, moving_average(y)[1]


def garch(y: np.ndarray) -> Pair:
    import jax.numpy as jnp
    from jax import lax

    import kinetograph as kg

    data = kg.data(y)

    @kg.function
    def ours(p: Any) -> Any:
        h, total = np.ones(len(y)) * p, 0.0
        for t in kg.range(1, len(y)):
            h[t] = 0.1 * p + 0.3 * p * data[t - 1] ** 2 + 0.5 * p * h[t - 1]
            total = total - 0.5 * kg.log(h[t]) - 0.5 * data[t] ** 2 / h[t]
        return total

    def by_hand(p: Any) -> Any:
        def trip(h: Any, pair: Any) -> Any:
            before, obs = pair
            h = 0.1 * p + 0.3 * p * before**2 + 0.5 * p * h
            return h, -0.5 * jnp.log(h) - 0.5 * obs**2 / h

        rows = jnp.asarray(y)
        return lax.scan(trip, p * 1.0, (rows[:-1], rows[1:]))[1].sum()

    return ours, by_hand


def kalman(y: np.ndarray) -> Pair:
    """A filter with two states."""
    import jax.numpy as jnp
    from jax import lax

    import kinetograph as kg

    data = kg.data(y)

    def update(m: Any, s: Any, a: Any, obs: Any) -> Any:
        m, s = a @ m, a @ s @ a.T + 0.1 * np.eye(2)
        v, f = obs - m[0], s[0, 0] + 0.5
        gain = s[:, 0] / f
        return m + gain * v, s - gain[:, None] * s[0][None, :], v, f

    @kg.function
    def ours(p: Any) -> Any:
        a, m, s, total = TRANSITION * p, np.zeros(2), np.eye(2), 0.0
        for obs in data:
            m, s, v, f = update(m, s, a, obs)
            total = total - 0.5 * (kg.log(f) + v * v / f)
        return total

    def by_hand(p: Any) -> Any:
        def trip(state: Any, obs: Any) -> Any:
            m, s, v, f = update(*state, TRANSITION * p, obs)
            return (m, s), -0.5 * (jnp.log(f) + v * v / f)

        return lax.scan(trip, (jnp.zeros(2), jnp.eye(2)), jnp.asarray(y))[1].sum()

    return ours, by_hand


def hidden_markov(y: np.ndarray) -> Pair:
    """The forward pass over two states."""
    import jax.numpy as jnp
    from jax import lax
    from jax.scipy.special import logsumexp

    import kinetograph as kg

    data, logs = kg.data(y), np.log(PROBABILITIES)

    @kg.function
    def ours(p: Any) -> Any:
        a = np.log([0.5, 0.5])
        for obs in data:
            a = kg.logsumexp(a[:, None] + logs, axis=0) - 0.5 * (obs - LEVELS * p) ** 2
        return kg.logsumexp(a)

    def by_hand(p: Any) -> Any:
        def trip(a: Any, obs: Any) -> Any:
            return logsumexp(a[:, None] + logs, axis=0) - 0.5 * (obs - LEVELS * p) ** 2, None

        return logsumexp(lax.scan(trip, jnp.log(jnp.array([0.5, 0.5])), jnp.asarray(y))[0])

    return ours, by_hand


def stopping(y: np.ndarray) -> Pair:
    """A loop up to a stopping time; the hand-written loop knows it."""
    return _stopping(len(y), "while")


def left(y: np.ndarray) -> Pair:
    """The stopping time with `break`."""
    return _stopping(len(y), "break")


def stopping_buffer(y: np.ndarray) -> Pair:
    """The stopping time with a longer buffer."""
    return _stopping(len(y), "buffer")


def _stopping(count: int, how: str) -> Pair:
    import jax.numpy as jnp
    from jax import lax

    import kinetograph as kg

    end = (count - 0.5) * 0.01 + 1.0

    @kg.function
    def by_while(p: Any) -> Any:
        x, total = p * 1.0, 0.0
        while x < end:
            x = x + 0.01 * p
            total = total + kg.sin(x)
        return total

    @kg.function
    def by_break(p: Any) -> Any:
        x, total = p * 1.0, 0.0
        for _ in kg.range(10 * count):
            if x >= end:
                break
            x = x + 0.01 * p
            total = total + kg.sin(x)
        return total

    @kg.function
    def by_buffer(p: Any) -> Any:
        x, t, kept = p * 1.0, 0, np.zeros(2 * count)
        while x < end and t < 2 * count:
            x = x + 0.01 * p
            kept[t] = kg.sin(x)
            t = t + 1
        return kept.sum()

    def by_hand(p: Any) -> Any:
        def trip(state: Any, _: Any) -> Any:
            x, total = state
            x = x + 0.01 * p
            return (x, total + jnp.sin(x)), None

        return lax.scan(trip, (p * 1.0, 0.0), None, count)[0][1]

    return {"while": by_while, "break": by_break, "buffer": by_buffer}[how], by_hand


RECURSIONS: dict[str, Callable[[np.ndarray], Pair]] = {
    "autoregression, a buffer": autoregression,
    "ARMA(1, 1), `enumerate`": moving_average,
    "ARMA(1, 1), two buffers": two_buffers,
    "GARCH(1, 1)": garch,
    "Kalman filter, 2 x 2": kalman,
    "hidden Markov model, forward": hidden_markov,
    "stopping time, `while`": stopping,
    "stopping time, `break`": left,
    "stopping time, a buffer": stopping_buffer,
}


def batch(rows: int, apart: bool, sine: bool) -> dict[str, Callable[[Any], Any]]:
    """A sum over loops that each run until their own stopping time.

    It is computed by `kg.vmap`, by `kg.scan` over the rows, and by hand in JAX, with masked trips
    of all rows. With `apart` the times are exponential, else nearly equal.
    """
    import jax
    import jax.numpy as jnp
    from jax import lax

    import kinetograph as kg

    rng = np.random.default_rng(1)
    times = rng.exponential(40.0, rows).clip(3, 200) if apart else rng.uniform(95, 105, rows)
    rates = rng.uniform(0.8, 1.2, rows)

    def pulled(q: Any, sin: Any) -> Any:
        return sin(q) if sine else q - 0.16 * q * q * q

    def step(t: Any, q: Any, v: Any, p: Any, rate: Any, sin: Any) -> Any:
        v = v - 0.05 * rate * pulled(q, sin) * p
        q = q + 0.05 * v
        return t + 1 + 0.01 * q * q, q, v

    def ours(p: Any, time: Any, rate: Any) -> Any:
        _, q, v = kg.while_loop(
            lambda t, q, v: t < time,
            lambda t, q, v: step(t, q, v, p, rate, kg.sin),
            (0.0 * p, 1.0 * p, 0.0 * p),
        )
        return q * q + v

    def masked(p: Any, time: Any, rate: Any) -> Any:
        def trip(state: Any, _: Any) -> Any:
            new = step(*state, p, rate, jnp.sin)
            going = state[0] < time
            return tuple(jnp.where(going, a, b) for a, b in zip(new, state, strict=True)), None

        start = (0.0 * p, 1.0 * p, 0.0 * p)
        _, q, v = lax.scan(trip, start, None, int(times.max()) + 2)[0]
        return q * q + v

    def vmapped(p: Any) -> Any:
        return kg.vmap(lambda time, rate: ours(p, time, rate))(kg.data(times), kg.data(rates)).sum()

    def scanned(p: Any) -> Any:
        def add(total: Any, row: Any) -> Any:
            return total + ours(p, *row), None

        return kg.scan(add, 0.0 * p, (kg.data(times), kg.data(rates)))[0]

    def by_hand(p: Any) -> Any:
        rows = jnp.asarray(times), jnp.asarray(rates)
        return jax.vmap(lambda time, rate: masked(p, time, rate))(*rows).sum()

    return {"kg.vmap": vmapped, "kg.scan over rows": scanned, "by hand, masked": by_hand}
