"""The wheel is built, installed without this repository, and used."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PIP = (sys.executable, "-m", "pip", "--disable-pip-version-check", "-qq")


def run(*words):
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [*map(str, words)], cwd=ROOT, capture_output=True, text=True, env=clean, check=False
    )
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"
    return done.stdout


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_the_wheel_is_installed_and_used_in_a_clean_environment(tmp_path):
    index = subprocess.run([*PIP, "download", "--no-deps", "-d", tmp_path / "pip", "hatchling"])
    if index.returncode:
        pytest.skip("pip reaches no package index")
    dist = tmp_path / "dist"
    run(sys.executable, "-m", "build", "--outdir", dist, ".")
    python = getattr(sys, "_base_executable", None) or sys.executable
    answer = run(sys.executable, "scripts/check_release.py", dist, python)
    version = re.search(r'version = "(.*)"', (ROOT / "pyproject.toml").read_text())[1]
    assert answer == f"{python}: installed and ran kinetograph-{version}-py3-none-any.whl\n"
