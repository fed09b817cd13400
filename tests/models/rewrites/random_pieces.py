"""Random models of alike pieces, against the same models whose terms are computed as written.

A model draws what a piece is: its unknowns, one or several terms, data of one shape or of lengths
of their own, and what is shared. Some pieces may be different, the terms stand in any order.

    python -m tests.models.rewrites.random_pieces FIRST COUNT     seeds, and which are wrong
"""

import sys
import traceback
import warnings

import numpy as np
from tests.models.rewrites.plain import at, without_rewrites

import kinetograph as kg

__all__ = ["agree", "made"]

POSITIVE = (
    lambda m, s: kg.half_normal(s),
    lambda m, s: kg.gamma(2.0, s),
    lambda m, s: kg.exponential(s),
    lambda m, s: kg.lognormal(m, 0.5),
)
REAL = (
    lambda m, s: kg.normal(m, s),
    lambda m, s: kg.student(4.0, m, s),
    lambda m, s: kg.uniform(-2.0, 2.0),
    lambda m, s: kg.logistic(0.3, s),
)
PARTS = (
    *("own", "own", "shared", "slope", "own slope", "place", "read", "matrix", "square"),
    *("root", "quotient"),
)


class Piece:
    """What the pieces of a model have in common, drawn once."""

    def __init__(self, rng):
        self.rng = rng
        self.count = int(rng.integers(5, 15))
        kind = rng.integers(0, 4)  # single numbers, rows of one length, or of different ones
        if kind == 0:
            self.lengths = [None] * self.count
        elif kind == 1:
            self.lengths = [int(rng.integers(1, 8))] * self.count
        else:
            self.lengths = rng.integers(1, 8, self.count).tolist()
        self.vector = int(rng.integers(2, 4)) if rng.random() < 0.3 else None
        self.positive = rng.random() < 0.3
        self.named = rng.random() < 0.5
        self.literal = rng.random() < 0.5
        self.levels = rng.random() < 0.2  # several pieces have one unknown
        self.own = int(rng.choice([0, 1, 1, 1, 2]))
        self.odd = set(rng.choice(self.count, 2).tolist()) if rng.random() < 0.3 else set()
        self.prior = int(rng.integers(0, 4))
        self.terms = [Term(self, rng) for _ in range(rng.integers(1, 4))]
        self.order = rng.permutation(self.count * len(self.terms))
        self.by_order = rng.random() < 0.4
        self.together = rng.random() < 0.2  # something computed from all of the pieces

    def shape(self, i):
        return () if self.lengths[i] is None else (self.lengths[i],)

    def known(self, value):
        return value if self.literal else kg.data(value)


class Term:
    """A term of each piece: a mean, and what is observed of it, or a factor."""

    def __init__(self, piece, rng):
        self.family = str(
            rng.choice(["normal"] * 5 + ["poisson", "bernoulli", "gamma", "student", "factor"])
        )
        self.parts = rng.choice(PARTS, rng.integers(1, 4)).tolist()
        self.sd = str(rng.choice(["known", "data", "shared", "own", "number"]))
        self.offset = bool(rng.integers(2))
        self.scale = float(rng.choice([1.0, -2.0, 0.5]))
        self.large = rng.random() < 0.1
        n = piece.count
        self.x = [rng.normal(size=piece.shape(i)) for i in range(n)]
        self.index = [rng.integers(-3, 3, piece.shape(i)) for i in range(n)]
        self.place = rng.integers(-5, 5, n).tolist()
        width = piece.vector or 2
        self.X = [rng.normal(size=(*piece.shape(i), width)) for i in range(n)]
        self.sds = [rng.uniform(0.5, 2.0, piece.shape(i)) for i in range(n)]
        self.y = [self._data(rng, piece.shape(i)) for i in range(n)]

    def _data(self, rng, shape):
        if self.family == "poisson":
            return rng.poisson(10**6 if self.large and rng.random() < 0.5 else 2.0, size=shape)
        if self.family == "bernoulli":
            return rng.integers(0, 2, shape)
        return rng.gamma(2.0, size=shape) if self.family == "gamma" else rng.normal(size=shape)

    def mean(self, piece, i, own, world):
        """A sum of parts, each a quantity times what is known of the piece."""
        x, total = piece.known(self.x[i]), None
        positive = piece.known(np.maximum(self.x[i], 0.0))
        for k, part in enumerate(self.parts):
            a = own[k % len(own)] if own else world["mu"]
            one = a if piece.vector is None or not own else a[k % piece.vector]
            wide = a if piece.vector is not None and own else world["w"][: self.X[i].shape[-1]]
            value = {
                "own": lambda: one,
                "shared": lambda: world["mu"],
                "slope": lambda: world["slope"] * x,
                "own slope": lambda: x * one / 2.0,
                "place": lambda: world["w"][self.place[i]],
                "read": lambda: world["w"][piece.known(self.index[i])],
                "matrix": lambda: piece.known(self.X[i]) @ wide,
                "square": lambda: 0.1 * one * one,
                # Slopes that are not finite where the other side is taken.
                "root": lambda: kg.where(x > 0, kg.sqrt(positive * kg.exp(0.1 * one)), one * x),
                "quotient": lambda: kg.where(x > 0, world["mu"] * one / (positive + x), one),
            }[part]()
            total = value if total is None else (total - value if k % 2 else total + value)
        total = self.scale * total
        return total + 1.5 if self.offset else total

    def spread(self, piece, i, own, world):
        first = own[0] if own and piece.vector is None else world["mu"]
        return {
            "known": lambda: 0.8,
            "data": lambda: piece.known(self.sds[i]),
            "shared": lambda: world["tau"],
            "own": lambda: world["tau"] + first * first,
            "number": lambda: 0.5 + 0.1 * i,
        }[self.sd]()

    def state(self, piece, i, own, world):
        mean = self.mean(piece, i, own, world)
        y, odd = self.y[i], i in piece.odd
        if self.family == "factor":
            kg.factor(-0.3 * kg.abs(mean - y) if odd else -0.1 * (mean - y) ** 2)
        elif self.family == "normal":
            law = kg.laplace if odd else kg.normal
            kg.observe(piece.known(y), law(mean, self.spread(piece, i, own, world)))
        elif self.family == "student":
            df = 5.0 if odd else 3.0
            sd = self.spread(piece, i, own, world)
            kg.observe(piece.known(y), kg.student(df, mean, sd))
        elif self.family == "gamma":
            kg.observe(piece.known(y), kg.gamma(2.0 if odd else 1.5, kg.exp(0.3 * mean)))
        elif self.family == "poisson":
            kg.observe(piece.known(y), kg.poisson(kg.exp(0.3 * mean)))
        else:
            link = kg.iprobit if odd else kg.ilogit
            kg.observe(piece.known(y), kg.bernoulli(link(mean)))


def made(seed):
    """A random model; the same for one seed."""
    rng = np.random.default_rng(seed)
    piece = Piece(rng)
    mu, tau = kg.normal(0.0, 1.0, name="mu"), kg.half_normal(1.0, name="tau")
    world = {
        "mu": mu,
        "tau": tau,
        "slope": kg.normal(0.0, 1.0, name="slope"),
        "w": kg.normal(mu, 1.0, shape=5, name="w"),
    }
    families = POSITIVE if piece.positive else REAL
    more = {} if piece.vector is None else {"shape": piece.vector}

    def unknowns(i):
        made = [families[(piece.prior + k) % 4](mu, tau + 0.5) for k in range(piece.own)]
        if piece.vector is not None:
            made = [kg.normal(mu, tau + 0.5, **more) for _ in made]
        if piece.named:
            for k, a in enumerate(made):
                a.node.name = f"a{k}_{i}"
        return made

    every = [unknowns(i) for i in range(piece.count)]
    own = [every[i // 3] for i in range(piece.count)] if piece.levels else every
    steps = [(i, term) for i in range(piece.count) for term in piece.terms]
    for k in piece.order if piece.by_order else range(len(steps)):
        i, term = steps[k]
        term.state(piece, i, own[i], world)
    targets = [mu, tau, world["slope"], world["w"]]
    if piece.together and piece.own:
        total = sum(a[0].sum() for a in own)
        kg.observe(1.0, kg.normal(total, 2.0))
    return kg.model(*targets)


def agree(seed, points=2):
    """Whether value and gradient are those of the terms one by one, and the batches there were."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kg.KinetographWarning)
        model = made(seed)
        with without_rewrites():
            plain = made(seed)
    where = np.random.default_rng(seed).normal(scale=0.5, size=(points, model.free_size))
    (value, slope), (wanted, wanted_slope) = at((model, plain), where)
    assert np.isfinite(wanted).all()
    np.testing.assert_allclose(value, wanted, rtol=1e-9)
    scale = np.abs(wanted_slope).max()
    np.testing.assert_allclose(slope, wanted_slope, rtol=1e-7, atol=1e-9 * scale)
    found = model.density.batches
    return (
        (0, 0, 0)
        if found is None
        else (
            len(found.groups),
            len(found.compressed),
            sum(bool(group.by_rows) for group in found.groups),
        )
    )


def main(first, count):
    wrong, batches = [], np.zeros(3, int)
    for seed in range(first, first + count):
        try:
            batches += agree(seed)
        except Exception:
            traceback.print_exc(limit=-3)
            wrong.append(seed)
    words = "batches {}, compressed {}, of different lengths {}".format(*batches)
    print(f"{count} models from seed {first}: {words}; wrong: {wrong or 'none'}", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
