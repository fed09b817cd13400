"""Numbers that were promised: a stream gives the same ones in every version of anything."""

import json
from pathlib import Path

import numpy as np
import pytest
from tests.distributions.drawing import GENERATORS, ROWS, SIZE, draw
from tests.streams import make_golden

from kinetograph.bits.keys import STREAM_VERSION, make_key
from kinetograph.bits.source import event_source
from kinetograph.graph.precision import x64

GOLDEN = json.loads(
    (Path(__file__).parent / "golden" / f"version_{STREAM_VERSION}.json").read_text()
)
# Logarithms, exponentials and polynomials differ in the last places from one device, and from one
# way to compile them, to another.
ULPS = {"float32": 16, "float64": 4}
EVERYDAY = {"bernoulli", "exponential", "gamma", "normal", "permutation", "poisson", "uniform"}
# Zeros are mixed in as they are for Poisson numbers, and the others are negative binomial numbers.
MIXED = {"zero_inflated_negative_binomial", "zero_inflated_negative_binomial_mean"}


def test_version():
    assert GOLDEN["version"] == STREAM_VERSION


def check_words(entry):
    seed = entry["seed"]
    key = make_key(tuple(seed) if isinstance(seed, list) else seed, entry["use"], entry["member"])
    assert [f"{w:08x}" for w in key] == entry["key"]
    source = event_source(
        tuple(key),
        tuple(np.uint32(w) for w in entry["event"]),
        np.uint32(entry["lane"]),
        (4,),
        "f4",
    )
    words = np.stack([np.asarray(w) for w in source.words()], -1)
    assert words.dtype == np.uint32
    assert [" ".join(f"{w:08x}" for w in row) for row in words] == entry["words"]


def test_words():
    with x64():
        for entry in GOLDEN["words"]:
            check_words(entry)


def test_words_without_64_bits():
    for entry in GOLDEN["words"]:
        check_words(entry)


def chosen():
    """All, of which the everyday tests draw a few in 32 bits: the others are made of these."""
    for entry in GOLDEN["draws"]:
        name, dtype = entry["distribution"], entry["dtype"]
        everyday = name in EVERYDAY or (dtype == "float64" and name not in MIXED)
        marks = () if everyday else pytest.mark.slow
        yield pytest.param(entry, id=f"{name}-{dtype}-{entry['event'][1]}", marks=marks)


@pytest.mark.parametrize("entry", list(chosen()))
def test_draws(entry):
    # A number depends on its place alone: these are the first of many, whose program other tests
    # run too.
    event = GENERATORS[entry["distribution"]].event_ndim
    if entry["distribution"].endswith("permutation"):
        shape = entry["shape"]
    else:
        shape = (ROWS, *entry["shape"][-event:]) if event else SIZE
    x = draw(
        entry["distribution"],
        *make_golden.given(entry["distribution"], entry["parameters"]),
        shape=shape,
        dtype=np.dtype(entry["dtype"]),
        seed=872364,
        member=1,
        event=tuple(entry["event"]),
    ).ravel()[: len(entry["values"])]
    if x.dtype.kind == "f":
        assert x.dtype == entry["dtype"]
        expected = np.array([float.fromhex(v) for v in entry["values"]], x.dtype)
        np.testing.assert_array_max_ulp(x, expected, ULPS[entry["dtype"]])
    else:
        assert [int(v) for v in x] == entry["values"]


def test_every_distribution_has_golden_numbers():
    assert {entry["distribution"] for entry in GOLDEN["draws"]} == set(GENERATORS)


def test_keys_and_words_are_all_different():
    assert len({tuple(e["key"]) for e in GOLDEN["words"]}) == len(make_golden.KEYS)
    words = [word for e in GOLDEN["words"] for word in e["words"]]
    assert len(set(words)) == len(words)


def test_golden_numbers_are_never_overwritten():
    with pytest.raises(SystemExit, match="has them all"):
        make_golden.main()
