"""Write the golden vectors of the present stream version. Run once; it never overwrites.

    PYTHONPATH=src:. python tests/streams/make_golden.py

A change of any number needs a new STREAM_VERSION, and with it a new file.
"""

import json
import sys
from pathlib import Path

import numpy as np
from tests.streams.drawing import draw

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
    ("bernoulli", [0.25], [12]),
    ("integers", [-5, 1000], [6]),
    ("poisson", [3.0], [6]),
    ("poisson", [250.0], [6]),
    ("binomial", [30, 0.25], [6]),
    ("binomial", [1000, 0.75], [6]),
    ("categorical", [[0.125, 0.25, 0.625]], [12]),
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


def values() -> list[dict]:
    """Draws of every distribution, in both precisions, at two events."""
    entries = []
    for name, parameters, shape in DRAWS:
        for dtype in ("float64", "float32"):
            for event in ([0, 0], [2**32 - 1, 1]):
                x = draw(
                    name,
                    *map(np.asarray, parameters),
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
    if path.exists():
        sys.exit(f"{path} exists: numbers that were promised do not change; see the docstring")
    FOLDER.mkdir(exist_ok=True)
    content = {"version": STREAM_VERSION, "words": raw_words(), "draws": values()}
    lines = [
        f'"{part}": [\n' + ",\n".join(json.dumps(e) for e in content[part]) + "\n]"
        for part in ("words", "draws")
    ]
    path.write_text(f'{{"version": {STREAM_VERSION},\n' + ",\n".join(lines) + "}\n")
    print(path)


if __name__ == "__main__":
    main()
