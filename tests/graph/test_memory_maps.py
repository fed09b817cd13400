"""Data that stay in their files."""

import os
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
import zarr

import kinetograph as kg
from kinetograph.graph.memory_maps import is_in_a_file

RANDOM = np.random.default_rng(1)


def in_file(path, array, mode="r", order="C"):
    file = np.lib.format.open_memmap(
        path / "x.npy", mode="w+", dtype=array.dtype, shape=array.shape, fortran_order=order == "F"
    )
    file[...] = array
    file.flush()
    return np.load(path / "x.npy", mmap_mode=mode)


@pytest.mark.parametrize(
    "array",
    [RANDOM.normal(size=(5, 3)), np.arange(4, dtype=np.int32), RANDOM.normal(size=3) > 0,
     RANDOM.normal(size=4).astype(np.float32)],
)  # fmt: skip
def test_a_map_that_cannot_be_written_stays_in_its_file(tmp_path, array):
    file = in_file(tmp_path, array)
    x = kg.data(file, "x")
    assert np.shares_memory(x.node.value, file)
    assert is_in_a_file(x.node.value)
    np.testing.assert_array_equal(x.node.value, array)
    with pytest.raises(ValueError, match="read-only"):
        x.node.value[...] = 0


@pytest.mark.parametrize(
    ("array", "mode", "order"),
    [
        (np.ones((5, 3)), "r+", "C"),
        (np.ones((5, 3)), "c", "C"),
        (np.ones((5, 3)), "r", "F"),
        (np.ones((5, 3), ">f8"), "r", "C"),
        (np.ones((5, 3), np.float16), "r", "C"),
    ],
)
def test_other_maps_are_copied(tmp_path, array, mode, order):
    file = in_file(tmp_path, array, mode, order)
    x = kg.data(file, "x").node.value
    assert not np.shares_memory(x, file)
    np.testing.assert_array_equal(x, array)


def test_single_precision_copies_a_map_of_double_precision(tmp_path):
    file = in_file(tmp_path, np.ones(3))
    with kg.precision("float32"):
        assert kg.data(file, "x").node.value.dtype == np.float32


def test_checks_name_the_place_far_within_a_file(tmp_path):
    values = np.ones((3, 2**19))
    values[2, 5] = np.nan
    with pytest.raises(kg.DataError, match=r"nan at index \(2, 5\)"):
        kg.data(in_file(tmp_path, values), "x")
    values[2, 5] = np.inf
    assert np.isinf(kg.data(in_file(tmp_path, values), "x", infinite=True).node.value[2, 5])
    values[2, 5] = -2.0
    y = kg.data(in_file(tmp_path, values), "y")
    with pytest.raises(kg.DataError, match=r"y is -2.0 at index \(2, 5\)"):
        kg.observe(y, kg.poisson(kg.half_normal(1.0, name="rate")))


def test_bounds_by_element_are_checked_whole(tmp_path):
    y = kg.data(in_file(tmp_path, np.array([3, 5, 2])), "y")
    kg.observe(y, kg.binomial([3, 5, 2], kg.beta(1, 1, name="p")))
    with pytest.raises(kg.DataError, match=r"y is 5 at index 1"):
        kg.observe(y, kg.binomial([3, 4, 2], kg.beta(1, 1, name="q")))


@pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")
def test_a_model_of_a_file_is_the_model_of_its_values(tmp_path):
    values = RANDOM.poisson(3.0, size=100)

    def posterior(y):
        rate = kg.half_normal(5.0, name="rate")
        kg.observe(kg.data(y, "y"), kg.poisson(rate))
        return kg.model(rate)

    of_file, of_array = posterior(in_file(tmp_path, values)), posterior(values)
    free = np.linspace(-1, 2, 5)[:, None]
    np.testing.assert_array_equal(of_file.log_prob(free), of_array.log_prob(free))
    tree = kg.mcmc(of_file, draws=20, warmup=50, seed=1, progress=False)
    same = kg.mcmc(of_array, draws=20, warmup=50, seed=1, progress=False)
    np.testing.assert_array_equal(tree["posterior/rate"], same["posterior/rate"])
    np.testing.assert_array_equal(tree["observed_data/y"], values)


LARGER_THAN_MEMORY = """
import resource, sys, warnings
import numpy as np, polars as pl, pytest, zarr
import kinetograph as kg
warnings.simplefilter("ignore")
BAOAB, short = kg.samplers.BAOAB(1e-6), {"draws": 2, "warmup": 0, "chains": 1, "progress": False}
kg.mcmc(kg.model(kg.normal(0, 1, name="x")), BAOAB, **short)
SMALL
kinds = {line.split(":")[0]: line.split()[1] for line in open("/proc/self/status") if "Vm" in line}
limit = int(kinds["VmData"]) * 1024 + 250 * 2**20
resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
count, part = 20_000_000, 250_000
COPY
x, y = kg.data(np.load("x.npy", mmap_mode="r"), "x"), kg.data(np.load("y.npy", mmap_mode="r"), "y")
w = kg.normal(0, 1, shape=2, name="w")
kg.observe(y, kg.poisson(kg.exp(x @ w)))
tree = kg.mcmc(kg.model(w), BAOAB, shard="rows", initial={"w": [0.1, 0.1]}, seed=1, **short)
assert np.isfinite(tree["posterior/w"]).all()
assert abs(tree["sample_stats/lp"].values + count).max() < 100  # exp(0) - 0 in each row
with pytest.raises(MemoryError):  # a copy of x has 320 MB
    kg.data(np.load("x.npy", mmap_mode="r+"), "x")
print("done")
"""

FILES = """
file = {
    "x": np.lib.format.open_memmap("x.npy", mode="w+", dtype=float, shape=(count, 2)),
    "y": np.lib.format.open_memmap("y.npy", mode="w+", dtype=np.int64, shape=(count,)),
}
"""

# What is done before the limit on memory, so that modules and threads exist, and under it.
COPIES = {
    "memory maps": ("", ""),
    "zarr": (
        'zarr.open_array("x.zarr")[:5]',
        FILES
        + """
for name in ("x", "y"):
    source = zarr.open_array(f"{name}.zarr")
    for start in range(0, count, part):
        file[name][start : start + part] = source[start : start + part]
""",
    ),
    "parquet": (
        'pl.scan_parquet("table.parquet").slice(5, 5).collect()',
        FILES
        + """
for start in range(0, count, part):
    rows = pl.scan_parquet("table.parquet").slice(start, part).collect()
    file["x"][start : start + part] = rows.select("a", "b").to_numpy()
    file["y"][start : start + part] = rows["y"].to_numpy()
""",
    ),
}


def written(path, kind, count, part):
    """Files of zeros, or without blocks on the disk."""
    if kind == "memory maps":
        for name, shape, dtype in (("x", (count, 2), float), ("y", (count,), np.int64)):
            np.lib.format.open_memmap(path / f"{name}.npy", mode="w+", dtype=dtype, shape=shape)
    elif kind == "zarr":
        for name, shape, dtype in (("x", (count, 2), float), ("y", (count,), np.int64)):
            chunks = (part, *shape[1:])
            array = zarr.create_array(
                path / f"{name}.zarr", shape=shape, dtype=dtype, chunks=chunks
            )
            array[part : 2 * part] = 0
    else:
        zeros = pl.repeat(0.0, count, eager=True)
        columns = {"a": zeros, "b": zeros, "y": zeros.cast(pl.Int64)}
        pl.DataFrame(columns).write_parquet(path / "table.parquet", row_group_size=part)


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is Linux's")
@pytest.mark.parametrize("kind", COPIES)
def test_data_larger_than_memory(tmp_path, kind):
    """480 MB of data, copied to memory maps part by part, and 250 MB of memory."""
    written(tmp_path, kind, 20_000_000, 250_000)
    small, copy = COPIES[kind]
    script = LARGER_THAN_MEMORY.replace("SMALL", small).replace("COPY", copy)
    alone = {"JAX_PLATFORMS": "cpu", "POLARS_MAX_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, env=os.environ | alone,
        capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("done\n")
