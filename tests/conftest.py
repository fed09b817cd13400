"""Tests use caches of compiled programs of their own; all processes of a session share them."""

import gc
import os
from pathlib import Path

import jax
import pytest
from tests import compiled_programs
from tests.slow_tests import Times, mark_listed

os.environ.pop("JAX_COMPILATION_CACHE_DIR", None)

# Programs that come from JAX's cache are not kept in ours, which these test.
_WITHOUT_JAX_CACHE = {"programs"}

# What these look at is which program is made and what it computes, not its last bits.
_COMPILED_QUICKLY = {
    "adaptation", "autograph", "cli", "datasets", "distributions", "formulas", "graph", "models",
    "neural", "observables", "ode", "optimizers", "prediction",
}  # fmt: skip


def pytest_addoption(parser):
    parser.addoption(
        "--quick-programs",
        action="store_true",
        help="compile without LLVM's optimisations where a test is not about the last bits",
    )
    parser.addoption(
        "--times", metavar="FOLDER", help="write the processor time of each test into a folder"
    )


def pytest_configure(config):
    folder = config.getoption("--times")
    if folder and (hasattr(config, "workerinput") or not config.getoption("numprocesses", 0)):
        config.pluginmanager.register(Times(folder))
    if not hasattr(config, "workerinput"):
        compiled_programs.drop_unused()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    mark_listed(items)


@pytest.fixture(scope="module", autouse=True)
def _quick_programs(request):
    """A quarter of the time to compile are LLVM's optimisations; `make test-slow` has them all."""
    folder = request.path.relative_to(Path(__file__).parent).parts[0]
    held = vars(request.module).values()
    # Golden numbers share the programs of tests of draws.
    last_bits = any(str(getattr(v, "__module__", "")).endswith(".drawing") for v in held)
    quick = request.config.getoption("--quick-programs") and folder in _COMPILED_QUICKLY
    quick = quick and not last_bits
    before = jax.config.read("jax_disable_most_optimizations")
    jax.config.update("jax_disable_most_optimizations", quick)
    yield
    jax.config.update("jax_disable_most_optimizations", before)


@pytest.fixture(scope="module", autouse=True)
def _jax_cache(request):
    folder = request.path.relative_to(Path(__file__).parent).parts[0]
    measured = request.config.getoption("--times")
    compiled_programs.use(not measured and folder not in _WITHOUT_JAX_CACHE)
    yield
    compiled_programs.use(False)


@pytest.fixture(scope="session", autouse=True)
def _session_cache(tmp_path_factory):
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "programs"
    folder.mkdir(mode=0o700, exist_ok=True)
    before = os.environ.get("KINETOGRAPH_CACHE")
    os.environ["KINETOGRAPH_CACHE"] = str(folder)
    yield
    if before is None:
        del os.environ["KINETOGRAPH_CACHE"]
    else:
        os.environ["KINETOGRAPH_CACHE"] = before


def pytest_collection_finish():
    """What is there before the first test stays: collections need not look at it again."""
    gc.collect()
    gc.freeze()
