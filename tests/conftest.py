"""Tests use a cache of compiled programs of their own; all processes of a session share it."""

import gc
import os

import jax
import pytest
from tests.slow_tests import Times, mark_slow

# Programs that come out of a cache of JAX's own are not kept in ours, whose tests would fail.
os.environ.pop("JAX_COMPILATION_CACHE_DIR", None)


def pytest_addoption(parser):
    parser.addoption(
        "--quick-programs",
        action="store_true",
        help="compile without LLVM's optimisations; make test-slow runs the same tests with them",
    )
    parser.addoption(
        "--times", metavar="FOLDER", help="write the processor time of each test into a folder"
    )


def pytest_configure(config):
    if config.getoption("--quick-programs"):
        jax.config.update("jax_disable_most_optimizations", True)
        os.environ["JAX_DISABLE_MOST_OPTIMIZATIONS"] = "1"  # of processes that tests start
    folder = config.getoption("--times")
    if folder and (hasattr(config, "workerinput") or not config.getoption("numprocesses", 0)):
        config.pluginmanager.register(Times(folder))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    mark_slow(items)


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
