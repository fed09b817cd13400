"""A virtual environment for each peer, and a description of the machine."""

import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent

PACKAGES: dict[str, tuple[str, ...]] = {
    "blackjax": ("blackjax", "jax", "arviz-stats[xarray]", "pandas"),
    "numpyro": ("numpyro", "diffrax", "funsor"),
    "pymc": ("pymc",),
    "nutpie": ("nutpie", "pymc", "numba"),
    "posteriors": ("posteriors", "torch"),
    "bde": ("sklearn-contrib-bde",),
}
ALL_IN_ONE = {
    "reliability": ("-e", str(ROOT), "numpyro", "blackjax", "nutpie", "arviz-stats[xarray]"),
    "bambi": ("bambi", "arviz-stats[xarray]"),
}
NAMED = (
    "kinetograph",
    *PACKAGES,
    "jax",
    "jaxlib",
    "diffrax",
    "pytensor",
    "numba",
    "numpy",
    "arviz-stats",
)


def newest_python() -> str:
    """The interpreter for the peers: from scripts/find-python, else this one."""
    script = ROOT / "scripts" / "find-python"
    if script.exists():
        found = subprocess.run([str(script)], capture_output=True, text=True, check=False)
        lines = found.stdout.split("\n")
        if found.returncode == 0 and lines[0].strip():
            return lines[0].strip()
    return sys.executable


def environment(peer: str, update: bool = False) -> Path:
    """The Python of a peer's environment, built or updated if necessary."""
    folder = HERE / ".venvs" / peer
    packages = (PACKAGES | ALL_IN_ONE)[peer]
    python = folder / "bin" / "python"
    ready = folder / "ready"
    if ready.exists() and not update:
        return python
    print(f"building the environment of {peer} ...", flush=True)
    if not python.exists():
        subprocess.run([newest_python(), "-m", "venv", str(folder)], check=True)
    install = [str(python), "-m", "pip", "install", "--quiet", "--upgrade"]
    command = [*install, "--upgrade-strategy", "eager", *packages]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"pip could not install {', '.join(packages)}:\n{done.stderr}")
    ready.touch()
    return python


def own_python() -> Path:
    """The Python that has kinetograph: the project's environment, else this one."""
    python = ROOT / ".venv" / "bin" / "python"
    return python if python.exists() else Path(sys.executable)


def versions(python: Path) -> dict[str, str]:
    """The versions of Python and of the relevant packages of an interpreter."""
    code = (
        "import importlib.metadata as m, json, platform, sys\n"
        "out = {'python': platform.python_version()}\n"
        "for name in sys.argv[1:]:\n"
        "    try: out[name] = m.version(name)\n"
        "    except m.PackageNotFoundError: pass\n"
        "print(json.dumps(out))"
    )
    done = subprocess.run(
        [str(python), "-c", code, *NAMED], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def _field(path: str, key: str) -> str:
    """The first value of a key in `key: value` lines, or ""."""
    try:
        lines = Path(path).read_text().splitlines()
    except OSError:
        return ""
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith(key)), "")


def cores() -> int:
    """The cores this process may use."""
    return len(os.sched_getaffinity(0))


def machine() -> dict[str, Any]:
    """A description of the machine, without names."""
    memory = _field("/proc/meminfo", "MemTotal").split()
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return {
        "cpu": _field("/proc/cpuinfo", "model name") or platform.processor(),
        "architecture": platform.machine(),
        "system": platform.system() + " " + platform.release().split("-")[0],
        "cores": cores(),
        "memory_gb": round(int(memory[0]) / 2**20, 1) if memory else None,
        "xla_flags": os.environ.get("XLA_FLAGS", ""),
        "load": [round(value, 2) for value in os.getloadavg()],
        "commit": commit.stdout.strip() or None,
    }
