"""NUTS: transitions against plain NumPy with the same random numbers, one by one."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from tests.samplers.kernels import Function
from tests.selection import thinned

from kinetograph.bits.draws import chain_key
from kinetograph.bits.source import unit
from kinetograph.graph.precision import x64
from kinetograph.kernels.contract import KernelState, Moment, Space
from kinetograph.kernels.noise import Noise
from kinetograph.runs.assembly import split_statistics
from kinetograph.samplers import NUTS

ROWS = 300


def straight(a, b):
    """Whether two stretches of momenta, a before b in time, join straight."""
    pairs = [(a + b, a[0], b[-1]), ([*a, b[0]], a[0], b[0]), ([a[-1], *b], a[-1], b[-1])]
    return all(sum(rho) @ p > 0 and sum(rho) @ q > 0 for rho, p, q in pairs)


def transition(log_density, gradient, q, h, scale, threshold, halving, p, sides, choices):
    """The new position and the records of a transition.

    All leaves are kept, and every stretch is checked as it stands; weights are logarithms.
    `halving` are the largest number of halvings and the tolerance.
    """
    steps = 0

    def energy(q, p):
        return 0.5 * p @ p - log_density(q)

    def path_of(at, p, h, number):
        """The points of some steps, up to the first that exceeds the tolerance."""
        nonlocal steps
        points, energies = [], [energy(at, p)]
        for _ in range(number):
            p = p + h / 2 * scale * gradient(at)
            at = at + h * scale * p
            p = p + h / 2 * scale * gradient(at)
            steps += 1
            points.append((at, p))
            energies.append(energy(at, p))
            if not np.ptp(energies) <= halving[1]:
                return points, False
        return points, True

    def search(at, p, h, most):
        """The number of halvings, the next leaf, the whole step, and the outcome."""
        whole, change = None, np.inf
        for k in range(most + 1):
            points, good = path_of(at, p, h / 2**k, 2**k)
            whole = points[-1] if k == 0 else whole
            if good:
                return k, points[-1], whole, "found"
            before, change = change, np.diff([energy(*x) for x in [(at, p), *points][-2:]])[0]
            change = np.inf if np.isnan(change) else abs(change)
            if k >= 3 and change > halving[1] and change >= before / 2:
                return k, points[-1], whole, "jump"
        return most, points[-1], whole, "exceeded"

    def leaf(at, p, h):
        """The next leaf, the whole step, whether steps stay too long, are blocked, halvings."""
        if not halving[0]:
            after = path_of(at, p, h, 1)[0][0]
            return after, after, False, False, 0
        k, after, whole, outcome = search(at, p, h, halving[0])
        one_way = outcome == "found" and k > 0 and search(*after, -h, k - 1)[3] != "exceeded"
        return after, whole, outcome == "exceeded", one_way or outcome == "jump", k

    start, path, chosen, log_weight = energy(q, p), [(q, p)], q, 0.0
    acceptance, leaves, depth, diverging, worst, most = 0.0, 0, 0, False, 0.0, 0
    for side, u in zip(sides, choices, strict=True):
        depth += 1
        at, p = path[-1 if side else 0]
        new, log_sum, candidate, good = [], -np.inf, None, True
        h_signed = h if side else -h
        while good and len(new) < len(path):
            (at, p), whole, failed, blocked, halvings = leaf(at, p, h_signed)
            leaves, most = leaves + 1, max(most, halvings)
            new.append((at, p))
            gain, of_whole = start - energy(at, p), start - energy(*whole)
            gain = gain if np.isfinite(gain) else -np.inf
            acceptance += np.exp(min(0.0, of_whole)) if np.isfinite(of_whole) else 0.0
            worst = max(worst, -gain, key=abs)
            diverging = failed or gain < -threshold
            gain = gain if np.exp(gain) > 0 else -np.inf  # such weights are no numbers but 0
            log_sum = np.logaddexp(log_sum, gain)
            share = np.exp(gain - log_sum) if gain > -np.inf else 0.0
            if u < share:
                candidate, u = at, u / share
            else:
                u = (u - share) / (1 - share)
            good, size = not (diverging or blocked), 2
            while good and len(new) % size == 0:
                momenta = [leaf[1] for leaf in new[-size:]][:: 1 if side else -1]
                good, size = straight(momenta[: size // 2], momenta[size // 2 :]), 2 * size
        if not good:
            break
        if np.log(u) < log_sum - log_weight:
            chosen = candidate
        log_weight = np.logaddexp(log_weight, log_sum)
        halves = (path, new) if side else (new[::-1], path)
        path = [*halves[0], *halves[1]]
        if not straight(*([leaf[1] for leaf in half] for half in halves)):
            break
    return chosen, steps, depth, diverging, acceptance / leaves, worst, most


def ours(kernel, log_density, q, hyper, in_turns):
    """New positions and statistics, and the random numbers of each transition."""
    key, target = chain_key(7, 0), Function(log_density)

    def one(q, event):
        moment = Moment(hyper, Noise(key, event), target)
        position, _ = target.evaluate(q, ())
        if in_turns:
            state = lax.while_loop(
                lambda state: ~kernel.finished(state),
                lambda s: kernel.tell(moment, s, target.evaluate(kernel.ask(moment, s), ())[0]),
                kernel.begin(moment, position),
            )
            position, info = kernel.end(state)
        else:
            state, info = kernel.step(moment, KernelState(position, {}, ()))
            position = state.position
        normals, words = moment.noise.normals_and_words(1, q.shape[0], kernel.max_depth)
        numbers = normals, words[1] & np.uint32(1), unit(words, np.dtype(np.float64))
        return position.q, info.statistics, numbers

    events = jnp.arange(len(q), dtype=jnp.uint32)
    # A batch takes all of its turns together; transitions at once go one after the other.
    run = jax.vmap(one) if in_turns else lambda *rows: lax.map(lambda row: one(*row), rows)
    found, statistics, numbers = jax.jit(run)(q, events)
    named = split_statistics(kernel.statistics, np.asarray(statistics))
    return np.asarray(found), named, [np.asarray(n) for n in numbers]


def normal(q):
    return -0.5 * q @ q, -q


def banana(q):
    bend = q[1] - 0.5 * q[0] ** 2
    return -0.5 * q[0] ** 2 - 2 * bend**2, -4 * bend * np.array([0, 1]) + q * [4 * bend - 1, 0]


def half(q):
    """A normal density up to 0.5, none beyond, and no number from 1 on."""
    beyond = -np.inf if q[0] < 1 else np.nan
    return (-0.5 * q @ q if q[0] <= 0.5 else beyond), -q * (q[0] <= 0.5)


def ditch(q):
    """Normal, but for an interval where weights are 0 in numbers and no divergence yet."""
    return -0.5 * q @ q - 800.0 * (abs(q[0] + 0.8) < 0.3), -q


JAX = {
    normal: lambda q: -0.5 * q @ q,
    banana: lambda q: -0.5 * q[0] ** 2 - 2 * (q[1] - 0.5 * q[0] ** 2) ** 2,
    ditch: lambda q: -0.5 * q @ q - 800.0 * (jnp.abs(q[0] + 0.8) < 0.3),
    half: lambda q: jnp.where(q[0] <= 0.5, -0.5 * q @ q, jnp.where(q[0] < 1, -jnp.inf, jnp.nan)),
}
WHOLE = (0, np.inf)  # halvings at most, and the tolerance
CASES = [  # density, dimensions, step size, scale, greatest depth, threshold, halvings
    (normal, 1, 0.1, 1.0, 10, 1000.0, WHOLE),
    (normal, 3, 1.7, 1.0, 1, 1000.0, WHOLE),
    (normal, 2, 1.2, 0.9, 10, 0.2, WHOLE),
    (banana, 2, 0.3, 0.7, 4, 1000.0, WHOLE),
    (half, 1, 0.9, 1.0, 10, 1000.0, WHOLE),
    (ditch, 1, 0.4, 1.0, 10, 1000.0, WHOLE),
    (banana, 2, 0.6, 0.7, 6, 1000.0, (6, 0.05)),
    (half, 2, 0.9, 1.0, 10, 1000.0, (10, 0.1)),
]
MORE_CASES = [
    (normal, 2, 1.2, 0.9, 10, 0.1, (10, 0.2)),
    (banana, 2, 0.6, 0.7, 4, 1000.0, (1, 0.05)),
    (banana, 2, 1.2, 1.0, 10, 1000.0, (10, 1.0)),
    (ditch, 1, 0.4, 1.0, 10, 1000.0, (3, 5.0)),
]


@pytest.mark.parametrize("in_turns", thinned([False, True], 2))
@pytest.mark.parametrize(
    ("density", "size", "h", "scale", "depth", "threshold", "halving"),
    [*CASES, *(pytest.param(*case, marks=pytest.mark.slow) for case in MORE_CASES)],
)
def test_a_transition_is_that_of_the_papers(
    density, size, h, scale, depth, threshold, halving, in_turns
):
    q = -np.abs(np.random.default_rng(1).normal(size=(ROWS, size)))
    if density is ditch:
        q = np.where(np.abs(q + 0.8) < 0.3, -0.2, q)
    wanted = frozenset({"max_energy_error", "bad"})
    sampler = NUTS(max_depth=depth, max_halvings=halving[0])
    space = Space((size,), q.dtype, {}, 0, wanted)
    values = {"step_size": h, "scale": np.full(size, scale), "divergence_threshold": threshold}
    values["halving_threshold"] = halving[1]
    with x64():
        hyper = sampler.hypers(space)
        hyper |= {name: np.asarray(value, float) for name, value in values.items()}
        found, info, numbers = ours(sampler.kernel(space), JAX[density], q, hyper, in_turns)
    log_density, gradient = (lambda q: density(q)[0]), (lambda q: density(q)[1])
    with np.errstate(invalid="ignore"):
        rows = [
            transition(log_density, gradient, start, h, scale, threshold, halving, *row)
            for start, *row in zip(q, *numbers, strict=True)
        ]
    columns = (np.array(column) for column in zip(*rows))
    chosen, steps, depths, diverging, acceptance, worst, halvings = columns
    np.testing.assert_array_equal(info["n_steps"], steps)
    np.testing.assert_array_equal(info["tree_depth"], depths)
    np.testing.assert_array_equal(info["diverging"], diverging)
    np.testing.assert_allclose(info["acceptance_rate"], acceptance, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(info["max_energy_error"], worst, rtol=1e-8, atol=1e-10)
    np.testing.assert_array_equal(info["bad"], np.isinf(worst))
    np.testing.assert_allclose(found, chosen, rtol=1e-8, atol=1e-10)
    if depth > 1:
        assert len(np.unique(depths)) > 1
    assert diverging.any() == (density is half or threshold < 1 or halving[0] == 1)
    if halving[0]:
        np.testing.assert_array_equal(info["halvings"], halvings)
        assert halvings.any()


def test_weights_far_above_that_of_the_start():
    """From where the density is less by more than numbers can say, all go, and to better points."""
    q, space = np.full((50, 2), 1e3), Space((2,), np.dtype(float), {}, 0)
    sampler = NUTS()
    with x64():
        found, info, _ = ours(sampler.kernel(space), JAX[normal], q, sampler.hypers(space), False)
    assert np.isfinite(found).all()
    assert (np.abs(found) < 990).any(1).all()
    assert not info["diverging"].any()
