"""The library without the modules and functions that Windows lacks.

Other packages are imported before these are removed: only kinetograph is under test.
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

WITHOUT = """
import importlib, os, pkgutil, sys, threading, time
import click, concurrent.futures, h5netcdf, jax, matplotlib, numpy, optax, rich.live, scipy.optimize
import scipy.special, scipy.stats, threadpoolctl, xarray, zarr, google_crc32c, jax.export, pandas
import multiprocessing, subprocess, tempfile, logging.handlers, arviz_stats, unittest.mock
jax.numpy.zeros(1).block_until_ready()

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name in MODULES:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

MODULES = ["fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog", "readline"]
FUNCTIONS = [
    "fork", "forkpty", "register_at_fork", "getuid", "geteuid", "getgid", "getpgid", "killpg",
    "setsid", "sync", "uname", "nice", "getloadavg", "chown", "mkfifo", "statvfs",
    "sysconf", "O_NOFOLLOW", "O_DIRECTORY", "O_CLOEXEC", "openpty", "posix_fallocate", "preadv",
]
for name in MODULES:
    sys.modules.pop(name, None)
for name in FUNCTIONS:
    if hasattr(os, name):
        delattr(os, name)
sys.meta_path.insert(0, Missing())

import kinetograph as kg
for module in pkgutil.walk_packages(kg.__path__, "kinetograph."):
    if "__main__" not in module.name:
        importlib.import_module(module.name)
"""

RUN = """
mu = kg.normal(0, 1)
kg.observe([0.3, 0.8], kg.normal(mu, 1), name="y")
model = kg.model(mu)
kg.mcmc(model, draws=20, warmup=20, chains=1, seed=1, progress=False, store="run.zarr")
results = kg.resume("run.zarr", model, draws=40, progress=False)
results.to_netcdf("run.nc", engine="h5netcdf")
from kinetograph.runs.store import locks
print(results["posterior"].sizes["draw"], locks.fcntl, *sorted(p.suffix for p in CACHE.glob("*")))
"""


def test_a_run_with_a_store_needs_no_function_of_posix(tmp_path: Path) -> None:
    code = f"{WITHOUT}\nfrom pathlib import Path\nCACHE = Path('cache')\n{RUN}"
    environment = {"KINETOGRAPH_CACHE": "cache", "PYTHONPATH": str(ROOT / "src"), "PATH": ""}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        cwd=tmp_path,
        env=environment | {"HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("40 None")
    assert ".trial" not in done.stdout
