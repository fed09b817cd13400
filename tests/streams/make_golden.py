"""Write the golden vectors of the present stream version; it never changes one that is there.

    PYTHONPATH=src:. python tests/streams/make_golden.py

A new distribution adds its numbers. A change of any number needs a new STREAM_VERSION, and with it
a new file.
"""

import json
import sys
from pathlib import Path

import numpy as np
from tests.distributions.drawing import draw

from kinetograph.bits.keys import CHAIN, MEMBER, STREAM_VERSION, make_key
from kinetograph.bits.source import event_source
from kinetograph.graph.precision import x64

FOLDER = Path(__file__).parent / "golden"

# Seed, use, member: integers, lists and long ones; members by number and by name.
KEYS = [
    (0, MEMBER, 0),
    (1, MEMBER, 0),
    (1, MEMBER, 1),
    (1, MEMBER, 2**20),
    (1, MEMBER, "eps"),
    (1, CHAIN, 0),
    (1, CHAIN, 4095),
    (2**200, MEMBER, 0),
    ((1, 2), MEMBER, 0),
    ((1, 2, 0), MEMBER, 0),
    ((872364,), MEMBER, 1),
]
# Low and high word of the event, lane.
PLACES = [(0, 0, 0), (1, 0, 0), (2**32 - 1, 0, 0), (0, 1, 0), (2**32 - 1, 2**32 - 1, 4095)]

DRAWS = [
    ("uniform", [2.0, 5.0], [6]),
    ("normal", [1.0, 2.0], [6]),
    ("lognormal", [0.5, 0.75], [6]),
    ("half_normal", [2.0], [6]),
    ("truncated_normal", [0.0, 1.0, 2.0, 3.0], [6]),
    ("truncated_normal", [0.0, 1.0, float("-inf"), -6.0], [6]),
    ("exponential", [2.0], [6]),
    ("laplace", [1.0, 2.0], [6]),
    ("logistic", [1.0, 2.0], [6]),
    ("cauchy", [1.0, 2.0], [6]),
    ("gamma", [0.5, 2.0], [6]),
    ("gamma", [3.5, 2.0], [6]),
    ("beta", [0.5, 3.0], [6]),
    ("student", [2.5, 1.0, 2.0], [6]),
    ("dirichlet", [[0.5, 1.0, 3.0]], [2, 3]),
    ("multivariate_normal", [[1.0, -1.0], [[2.0, 0.5], [0.5, 1.0]]], [3, 2]),
    ("half_cauchy", [2.0], [6]),
    ("inverse_gamma", [2.5, 3.0], [6]),
    ("lkj_correlation", [1.5], [2, 3, 3]),
    ("bernoulli_logit", [-0.5], [12]),
    ("binomial_logit", [30, -1.0], [6]),
    ("poisson_log_rate", [1.0], [6]),
    ("poisson_log_rate", [5.0], [6]),
    ("negative_binomial", [2.5, 0.25], [6]),
    ("categorical_logit", [[0.0, 1.0, -1.0]], [12]),
    ("weibull", [1.5, 2.0], [6]),
    ("pareto", [2.5, 3.0], [6]),
    ("chi_squared", [3.0], [6]),
    ("gumbel", [1.0, 2.0], [6]),
    ("half_student", [2.5, 2.0], [6]),
    ("bernoulli", [0.25], [12]),
    ("integers", [-5, 1000], [6]),
    ("poisson", [3.0], [6]),
    ("poisson", [250.0], [6]),
    ("binomial", [30, 0.25], [6]),
    ("binomial", [1000, 0.75], [6]),
    ("categorical", [[0.125, 0.25, 0.625]], [12]),
    ("geometric", [0.25], [6]),
    ("discrete_uniform", [-5, 1000], [6]),
    ("beta_binomial", [30, 0.75, 2.5], [6]),
    ("hypergeometric", [30, 25, 40], [6]),
    ("hypergeometric", [10, 250, 40], [6]),
    ("negative_binomial_mean", [5.0, 0.5], [6]),
    ("zero_inflated_poisson", [0.25, 3.0], [12]),
    ("hurdle_poisson", [0.25, 3.0], [12]),
    ("zero_inflated_negative_binomial", [0.25, 2.5, 0.5], [12]),
    ("hurdle_negative_binomial", [0.25, 2.5, 0.5], [12]),
    ("zero_inflated_negative_binomial_mean", [0.25, 5.0, 0.5], [12]),
    ("hurdle_negative_binomial_mean", [0.25, 5.0, 0.5], [12]),
    ("multinomial", [30, [0.125, 0.25, 0.625]], [4, 3]),
    ("dirichlet_multinomial", [30, [0.5, 1.0, 3.0]], [4, 3]),
    ("ordered_logistic", [0.5, [-1.0, 0.5, 2.0]], [12]),
    ("ordered_probit", [0.5, [-1.0, 0.5, 2.0]], [12]),
    ("f", [4.5, 10.0], [6]),
    ("wald", [1.5, 2.5], [6]),
    ("asymmetric_laplace", [1.0, 2.0, 1.5], [6]),
    ("skew_normal", [1.0, 2.0, -3.0], [6]),
    ("multivariate_normal_precision", [[1.0, -1.0], [[2.0, 0.5], [0.5, 1.0]]], [3, 2]),
    ("multivariate_student", [4.5, [1.0, -1.0], [[2.0, 0.5], [0.5, 1.0]]], [3, 2]),
    (
        "matrix_normal",
        [
            [[1.0, -1.0, 0.0], [0.0, 0.0, 0.0]],
            [[2.0, 0.5], [0.5, 1.0]],
            [[1.0, 0.5, 0.0], [0.5, 1.0, 0.0], [0.0, 0.0, 2.0]],
        ],
        [2, 2, 3],
    ),
    ("wishart", [4.5, [[2.0, 0.5], [0.5, 1.0]]], [3, 2, 2]),
    ("lkj_cholesky", [1.5], [2, 3, 3]),
    ("von_mises", [1.0, 2.5], [6]),
    ("zero_sum_normal", [2.0], [2, 4]),
    ("random_walk", [2.0, 0.5, 1.0, 3.0], [2, 4]),
    ("ar", [[0.5, 0.25], 0.5, 4.0, 16.0, 0.75], [2, 5]),  # far from 0, where ulps are tiny
    ("markov_chain", [[0.25, 0.75], [[0.5, 0.5], [0.25, 0.75]]], [3, 5]),
    ("exponentially_modified_normal", [1.0, 2.0, 0.5], [6]),
    ("permutation", [], [8]),
    ("weighted_permutation", [[0.5, 0.25, 0.125, 0.125]], [4]),
]


def raw_words() -> list[dict]:
    """The first four elements' words for every key and place."""
    entries = []
    for seed, use, member in KEYS:
        key = make_key(seed, use, member)
        for low, high, lane in PLACES:
            with x64():
                source = event_source(tuple(key), (low, high), np.uint32(lane), (4,), np.float64)
                words = np.stack([np.asarray(w) for w in source.words()], -1)
            entries.append(
                {
                    "seed": list(seed) if isinstance(seed, tuple) else seed,
                    "use": use,
                    "member": member,
                    "event": [low, high],
                    "lane": lane,
                    "key": [f"{w:08x}" for w in key],
                    "words": [" ".join(f"{w:08x}" for w in row) for row in words],
                }
            )
    return entries


FACTORS = {
    "multivariate_normal": (1,),
    "multivariate_normal_precision": (1,),
    "multivariate_student": (2,),
    "matrix_normal": (1, 2),
    "wishart": (1,),
}


def given(name: str, parameters: list) -> list:
    """What the generator takes: of covariances their factors."""
    arrays = [np.asarray(p) for p in parameters]
    for place in FACTORS.get(name, ()):
        arrays[place] = np.linalg.cholesky(arrays[place])
    return arrays


def values(known: set[str]) -> list[dict]:
    """Draws of every other distribution, in both precisions, at two events."""
    entries = []
    for name, parameters, shape in (d for d in DRAWS if d[0] not in known):
        for dtype in ("float64", "float32"):
            for event in ([0, 0], [2**32 - 1, 1]):
                x = draw(
                    name,
                    *given(name, parameters),
                    shape=shape,
                    dtype=np.dtype(dtype),
                    seed=872364,
                    member=1,
                    event=tuple(event),
                ).ravel()
                exact = x.dtype.kind != "f"
                entries.append(
                    {
                        "distribution": name,
                        "parameters": parameters,
                        "shape": shape,
                        "dtype": dtype,
                        "event": event,
                        "values": [int(v) if exact else float(v).hex() for v in x],
                    }
                )
    return entries


def main() -> None:
    path = FOLDER / f"version_{STREAM_VERSION}.json"
    FOLDER.mkdir(exist_ok=True)
    before = json.loads(path.read_text()) if path.exists() else {"words": [], "draws": []}
    new = values({entry["distribution"] for entry in before["draws"]})
    if before["words"] and not new:
        sys.exit(
            f"{path} has them all: numbers that were promised do not change; see the docstring"
        )
    content = {"words": before["words"] or raw_words(), "draws": before["draws"] + new}
    lines = [
        f'"{part}": [\n' + ",\n".join(json.dumps(e) for e in content[part]) + "\n]"
        for part in ("words", "draws")
    ]
    path.write_text(f'{{"version": {STREAM_VERSION},\n' + ",\n".join(lines) + "}\n")
    print(path)


if __name__ == "__main__":
    main()
