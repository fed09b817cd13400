"""Write the golden vectors of the present stream version; it never changes one that is there.

    PYTHONPATH=src:. python -m tests.streams.make_golden

A new distribution adds its numbers. A change of any number needs a new STREAM_VERSION, and with it
a new file.
"""

import json
import sys
from pathlib import Path

import numpy as np
from tests.distributions.cases.every import CASES, with_part
from tests.distributions.drawing import draw

from kinetograph.bits.keys import CHAIN, MEMBER, STREAM_VERSION, make_key
from kinetograph.bits.source import event_source
from kinetograph.distributions.family import FAMILIES
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


def draws() -> list[tuple[str, list, list[int]]]:
    """A draw of each family, of the first parameters whose moments are tested."""
    entries = []
    for name in with_part("moment_sets"):
        arrays = [np.asarray(parameter) for parameter in CASES[name].moment_sets[0]]
        event = FAMILIES[name].event_shape(*(array.shape for array in arrays))
        entries.append((name, [array.tolist() for array in arrays], [6, *event]))
    return entries


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
    for name, parameters, shape in (d for d in draws() if d[0] not in known):
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
