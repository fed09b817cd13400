"""Other forms of values: each rule against the plain formula and, where that rounds, mpmath."""

import mpmath as mp
import numpy as np
import pytest
from scipy import special

import kinetograph as kg
from kinetograph.graph.forms.representations import _RULES, register, represent
from kinetograph.graph.node import Apply, FormOf, Node, Operation
from kinetograph.graph.operations.elementwise import ELEMENTWISE, elementwise


def made_of(form):
    """The node that computes a form."""
    while isinstance(form, FormOf):
        (form,) = form.parents
    return form


MODERATE = np.array([-2.5, -0.7, 0.1, 1.3, 2.2])
PLAIN = {
    "log": np.log,
    "log1m": lambda p: np.log1p(-p),
    "logit": lambda p: np.log(p / (1 - p)),
    "probit": special.ndtri,
}
x = kg.placeholder((5,), name="x")
table = kg.placeholder((5, 3), name="table")

# Each made of x or table, and the kinds that it has.
REPRESENTED = {
    "ilogit": (kg.ilogit(x), "log log1m logit"),
    "iprobit": (kg.iprobit(x), "log log1m probit"),
    "icloglog": (kg.icloglog(x), "log log1m"),
    "icauchit": (kg.icauchit(x), "log log1m"),
    "exp": (kg.exp(x), "log"),
    "complement": (1 - kg.ilogit(x), "log log1m logit"),
    "complement of a complement": (1.0 - (1 - kg.iprobit(x)), "log log1m probit"),
    "single precision of iprobit": (kg.iprobit(x).astype(np.float32), "probit"),
    "product": (kg.ilogit(x) * kg.iprobit(x), "log log1m"),
    "product with a constant": (2.5 * kg.exp(x), "log"),
    "product with data": (kg.data([1.0, 2, 3, 4, 5]) * kg.exp(x), "log"),
    "quotient": (kg.exp(x) / kg.data([1, 2, 3, 4, 5]), "log"),
    "share of a sum": (3.0 / (3.0 + kg.exp(x)), "log log1m logit"),
    "powers": (kg.sqrt(kg.exp(x)) * kg.square(kg.iprobit(x)) * kg.ilogit(x) ** 3, "log"),
    "exp of a negative": (kg.exp(-kg.exp(x)), "log log1m"),
    "scaled": (0.5 * kg.ilogit(x), "log log1m"),
    "variance": (kg.ilogit(x) * (1 - kg.ilogit(x)), "log log1m"),
    "root": (kg.sqrt(kg.ilogit(x)), "log log1m"),
    "never in three": (1 - (1 - kg.ilogit(x)) ** 3, "log log1m"),
    "efforts": (1 - (1 - kg.ilogit(x)) ** kg.data([0.5, 1, 2, 1.5, 2]), "log log1m"),
    "both": (1 - kg.ilogit(x) * kg.iprobit(x), "log log1m"),
    "conditional": (kg.ilogit(x) * kg.iprobit(x) / kg.iprobit(x), "log log1m"),
    "twice inverted": (np.reciprocal(1 / kg.ilogit(x)), "log log1m"),
    "reciprocal": (np.reciprocal(kg.exp(x)), "log"),
    "softmax": (kg.softmax(table), "log"),
    "imultilogit": (kg.imultilogit(table), "log"),
    "softmax of two": (kg.softmax(table[:, :2]), "log log1m"),
    "row": (kg.ilogit(table)[2], "log log1m logit"),
    "rows": (kg.ilogit(table)[np.array([0, 3, 3])], "log log1m logit"),
    "computed index": (kg.ilogit(x)[kg.argmax(x)], "log log1m logit"),
    "shapes": (kg.ilogit(table).T.reshape(-1).reshape((3, 5))[:, None], "log log1m logit"),
    "broadcast": (np.broadcast_to(kg.ilogit(x), (2, 5)), "log log1m logit"),
    "copies": (np.tile(np.repeat(kg.ilogit(x), 2), 3), "log log1m logit"),
    "order": (np.roll(np.flip(kg.ilogit(x)), 2), "log log1m logit"),
    "stack": (kg.stack([kg.ilogit(x), kg.iprobit(x)]), "log log1m"),
    "join with constants": (kg.concatenate([kg.ilogit(x), [0.5, 0.25]]), "log log1m logit"),
    "where": (kg.where(x > 0, kg.ilogit(x), 0.5), "log log1m logit"),
    "constants": (kg.iprobit(x).at[1].set(0.3).at[2].set(0.9), "log log1m probit"),
    "writes": (kg.ilogit(x).at[1].set(0.3).at[2:].set(kg.iprobit(x[2:])), "log log1m"),
    "single precision": (kg.ilogit(x).astype(np.float32), "log log1m logit"),
}


@pytest.fixture(scope="module")
def values():
    """The values and all forms of all cases, by one program."""
    forms = {
        (name, kind): represent(array.node, kind)
        for name, (array, kinds) in REPRESENTED.items()
        for kind in kinds.split()
    }
    assert None not in forms.values()
    outputs = [array for array, _ in REPRESENTED.values()] + list(map(kg.Array, forms.values()))
    rows = np.stack([MODERATE, MODERATE[::-1], MODERATE / 2], 1)
    computed = kg.compile([x, table], outputs)(MODERATE, rows)
    return dict(zip([*REPRESENTED, *forms], computed, strict=True))


@pytest.mark.parametrize("name", REPRESENTED)
def test_a_form_is_that_of_the_value(values, name):
    array, kinds = REPRESENTED[name]
    bound = 1e-12 if array.dtype == np.float64 else 1e-5
    for kind in kinds.split():
        assert values[name, kind].shape == array.shape
        np.testing.assert_allclose(
            values[name, kind], PLAIN[kind](values[name].astype(float)), rtol=bound, atol=bound
        )


def test_every_rule_has_a_case():
    needed = {operation.name for operation, kind in _RULES if kind in PLAIN} - {"iloglog"}
    text = {
        node.operation.name
        for array, _ in REPRESENTED.values()
        for node in kg.graph.node.ancestors([array.node])
        if isinstance(node, Apply)
    }
    assert needed <= text, needed - text


@pytest.mark.parametrize(
    "array",
    [
        kg.ilogit(x) + 0.1,
        kg.ilogit(x) + kg.iprobit(x),
        kg.ilogit(x) - 0.1,
        2.0 - kg.ilogit(x),
        -kg.exp(x),
        -2.0 * kg.exp(x),
        kg.clip(kg.ilogit(x), 1e-6, 1 - 1e-6),
        kg.maximum(kg.exp(x), 1.0),
        kg.ilogit(x).sum(),
        kg.exp(x).astype(int),
        kg.exp(x) / (2.0 + kg.exp(x + 1)),
        kg.where(x > 0, kg.ilogit(x), x),
        kg.concatenate([kg.ilogit(x), [-1.0]]),
        kg.ilogit(x).at[0].set(-0.3),
        kg.ilogit(x).at[0].add(0.3),
        x,
        kg.data([1.0, 2.0]),
    ],
)
def test_other_operations_drop_it(array):
    for kind in ("log1m", "logit", "probit", "cholesky"):
        assert represent(array.node, kind) is None
    if array.node.label() != "/":
        assert represent(array.node, "log") is None


def test_a_quotient_of_other_sums_is_no_share():
    share = kg.exp(x) / (2.0 + kg.exp(x + 1))
    assert represent(share.node, "log1m") is None


EXTREME = np.array([-800.0, -40.0, -8.3, 8.3, 40.0, 800.0])
ORACLES = {
    "ilogit": (kg.ilogit, lambda t: 1 / (1 + mp.exp(-t))),
    "iprobit": (kg.iprobit, lambda t: mp.ncdf(t)),
    "icloglog": (kg.icloglog, lambda t: -mp.expm1(-mp.exp(t))),
    "icauchit": (kg.icauchit, lambda t: mp.atan2(1, -t) / mp.pi),
}


@pytest.mark.parametrize("name", ORACLES)
def test_logarithms_of_links_where_probabilities_round(name):
    link, oracle = ORACLES[name]
    point = kg.placeholder((), name="point")
    log, log1m = (represent(link(point).node, kind) for kind in ("log", "log1m"))
    assert log is not None
    assert log1m is not None
    outputs = [kg.Array(node) for node in (log, log1m)]
    slopes = [kg.gradients(y, point) for y in outputs]
    program = kg.compile([point], [*outputs, *slopes])
    with mp.workdps(400):

        def at(t, kind):
            t = mp.mpf(t)
            if name == "icloglog" and kind == 1:
                return -mp.exp(t)
            p = oracle(t) if kind == 0 else oracle(-t) if name != "icloglog" else None
            return mp.log(p)

        for t in EXTREME:
            got = program(t)
            for kind in (0, 1):
                with np.errstate(over="ignore"):
                    wanted = float(at(t, kind))
                    slope = float(mp.diff(lambda s, kind=kind: at(s, kind), t))
                assert got[kind] == pytest.approx(wanted, rel=1e-10, abs=1e-300), (t, kind)
                assert got[2 + kind] == pytest.approx(slope, rel=1e-10, abs=1e-300), (t, kind)


# Of log probabilities at a and b, and what is right there; extremes on both sides.
COMPOSED = {
    "product": (lambda p, q: p * q, lambda p, q: p * q),
    "square": (lambda p, q: p**2, lambda p, q: p**2),
    "cube of the complement": (lambda p, q: (1 - p) ** 3, lambda p, q: (1 - p) ** 3),
    "once in three": (lambda p, q: 1 - (1 - p) ** 3, lambda p, q: 1 - (1 - p) ** 3),
    "root": (lambda p, q: kg.sqrt(p), lambda p, q: mp.sqrt(p)),
    "product of powers": (lambda p, q: p**2 * np.square(q), lambda p, q: p**2 * q**2),
    "quotient": (lambda p, q: p * q / kg.sqrt(q), lambda p, q: p * mp.sqrt(q)),
    "exponential": (lambda p, q: kg.exp(-p), lambda p, q: mp.exp(-p)),
}


def test_trials_of_composed_probabilities_where_these_round():
    """Occupancy and detection: each outcome's log density and gradient, by one program."""
    points = np.array([(-400.0, -400.0), (-3, 40), (40, 40), (1.2, 1.1), (0.3, 1.7), (300, 200)])
    a, b = (kg.placeholder((len(points),), name=name) for name in "ab")
    outputs = []
    for make, _ in COMPOSED.values():
        prob = make(kg.ilogit(a), kg.ilogit(b))
        for outcome in (0, 1):
            value = kg.log_density(kg.bernoulli(prob), outcome)
            outputs += [value, *kg.gradients(value.sum(), [a, b])]
    found = iter(kg.compile([a, b], outputs)(*points.T))
    with mp.workdps(600):
        h = mp.mpf(10) ** -60
        for name, (_, exact) in COMPOSED.items():
            for outcome in (0, 1):

                def log(s, t, exact=exact, outcome=outcome):
                    p = exact(1 / (1 + mp.exp(-s)), 1 / (1 + mp.exp(-t)))
                    return mp.log(p if outcome else 1 - p)

                wanted = []
                for s, t in points:
                    s, t = mp.mpf(s), mp.mpf(t)
                    by_s = (log(s + h, t) - log(s - h, t)) / (2 * h)
                    by_t = (log(s, t + h) - log(s, t - h)) / (2 * h)
                    wanted.append([float(v) for v in (log(s, t), by_s, by_t)])
                for got, right in zip([next(found) for _ in range(3)], np.array(wanted).T):
                    np.testing.assert_allclose(
                        got, right, rtol=1e-10, atol=1e-13, err_msg=f"{name}, {outcome}"
                    )


def test_complements_of_what_rounds_to_one():
    """With e = exp(-800), of which no float holds the square, 1 - (1 - e)^y is y e."""
    z = kg.placeholder(name="z")
    p = kg.ilogit(z)
    probs = {p**2: 2, p * kg.ilogit(z + 0): 2, p ** kg.data(2.5): 2.5, p / kg.sqrt(p): 0.5}
    outputs = []
    for prob in probs:
        value = kg.log_density(kg.bernoulli(prob), 0)
        outputs += [value, kg.gradients(value, z)]
    # What is certain has a finite gradient where it happens.
    outputs.append(kg.gradients(kg.log_density(kg.bernoulli(p * 1.0 / p), 1), z))
    *found, certain = kg.compile([z], outputs)(800.0)
    assert certain == 0
    np.testing.assert_allclose(found[::2], -800 + np.log(list(probs.values())), rtol=1e-12)
    np.testing.assert_allclose(found[1::2], -1.0, rtol=1e-12)


def test_a_composed_probability_that_is_one():
    """What never fails has a finite gradient where it did not."""
    a = kg.variable(name="a")
    kg.observe(kg.data([1, 1]), kg.bernoulli(kg.ilogit(a) * kg.data([1.0, 0.5])))
    model = kg.model(a)
    assert float(model.log_prob([800.0])) == pytest.approx(np.log(0.5), rel=1e-12)
    assert float(model.gradient([800.0])[0]) == 0.0


def test_an_extension_registers_its_own():
    def iloglog(x):
        import jax.numpy as jnp

        return jnp.exp(-jnp.exp(-x))

    operation = Operation("iloglog", iloglog, elementwise=True)
    a = kg.normal(0, 1, name="a")
    p = kg.Array(Apply(operation, (a.node,), (), a.dtype))
    assert represent(p.node, "log") is None

    @register(operation, "log")
    def log(node: Apply, form) -> Node:
        return elementwise("negative", elementwise("exp", elementwise("negative", node.parents[0])))

    @register(operation, "log1m")
    def log1m(node: Apply, form) -> Node:
        rate = elementwise("exp", elementwise("negative", node.parents[0]))
        return elementwise("log1mexp", rate)

    assert made_of(represent((1 - p).node, "log")).operation is ELEMENTWISE["log1mexp"]
    y = kg.data(1)
    kg.observe(y, kg.bernoulli(p))
    model = kg.model(a)
    # The probability exp(-exp(8)) is 0 in floating point.
    wanted = -np.exp(8.0) - 32.0 - 0.5 * np.log(2 * np.pi)
    assert float(model.log_prob([-8.0])) == pytest.approx(wanted, rel=1e-12)
    assert float(model.gradient([-8.0])[0]) == pytest.approx(np.exp(8.0) + 8.0, rel=1e-12)


def test_any_number_of_writes_is_followed():
    p = kg.ilogit(x)
    for _ in range(1500):
        p = p.at[0].set(kg.ilogit(x[1]))
    assert represent(p.node, "logit") is not None


R = kg.lkj_correlation(2.0, 4, name="R")
ORDER = np.array([2, 0, 1, 3])
MATRICES = {
    "batch": (lambda r: kg.stack([r, r])[1], True),
    "join": (lambda r: kg.concatenate([kg.stack([r, r]), r[None]])[2], True),
    "new axes": (lambda r: np.broadcast_to(r, (2, 4, 4)).reshape(2, 1, 4, 4)[0, 0], True),
    "choice": (lambda r: kg.where(kg.sum(r) > 0, r, r), True),
    "part": (lambda r: r[1:, 1:], False),
    "other order": (lambda r: r[ORDER][:, ORDER], False),
    "transposed": (lambda r: r.T, False),
    "flipped": (np.flip, False),
    "rolled": (lambda r: np.roll(r, (1, 1), (0, 1)), False),
    "choice of elements": (lambda r: kg.where(np.eye(4) > 0, r, r), False),
}


@pytest.fixture(scope="module")
def factors():
    made = [f(R) for f, _ in MATRICES.values()]
    sample = np.corrcoef(np.random.default_rng(0).normal(size=(4, 20)))
    values = kg.compile([R], [*made, *map(kg.cholesky, made)])(sample)
    return dict(zip(MATRICES, zip(made, values, values[len(made) :], strict=False), strict=True))


@pytest.mark.parametrize("name", MATRICES)
def test_a_factor_is_that_of_whole_matrices(factors, name):
    made, value, factor = factors[name]
    assert (represent(made.node, "cholesky") is not None) == MATRICES[name][1]
    np.testing.assert_allclose(factor, np.linalg.cholesky(value), rtol=1e-9, atol=1e-12)


def test_scales_in_another_order_are_others():
    s = kg.exp(kg.placeholder((4,), name="s"))
    assert represent((s[:, None] * R * s).node, "cholesky") is not None
    assert represent((s[::-1][:, None] * R * s).node, "cholesky") is None


def test_long_chains_are_not_followed_for_ever():
    y = kg.exp(x)
    for _ in range(3000):
        y = y * 1.001
    assert represent(y.node, "log") is None
    for _ in range(40):
        y = y * y  # shared: 2**40 ways
    assert represent(y.node, "log") is None
