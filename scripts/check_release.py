"""Check the files of a release in clean environments.

    python scripts/check_release.py DIST PYTHON ...

For each Python, an environment is made, the wheel is installed with its dependencies only, and a
small model is sampled, summarised and written to a file. The source distribution must give the same
wheel.
"""

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

PROGRAM = """
import sys
import kinetograph as kg

assert sys.prefix in kg.__file__, kg.__file__
mu = kg.normal(0, 1)
kg.observe([0.3, 0.8, 0.1], kg.normal(mu, 1), name="y")
results = kg.mcmc(kg.model(mu), draws=200, chains=2, seed=1, progress=False, store="run.zarr")
print(kg.summary(results))
results.to_netcdf("run.nc", engine="h5netcdf")
print(kg.__version__)
"""


def run(*words: object, cwd: Path) -> str:
    """Run a program; its output is shown if it fails."""
    done = subprocess.run([*map(str, words)], cwd=cwd, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}\n{done.stdout}{done.stderr}")
    return done.stdout


def members(wheel: Path) -> dict[str, int]:
    """The files of a wheel with their checksums."""
    with zipfile.ZipFile(wheel) as file:
        return {i.filename: i.CRC for i in file.infolist() if not i.filename.endswith("RECORD")}


def check_python(python: str, wheel: Path) -> str:
    """Install and use a wheel in a new environment; returns the version."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run(python, "-m", "venv", folder / "environment", cwd=folder)
        installed = folder / "environment" / "bin" / "python"
        quiet = ("--disable-pip-version-check", "-qq")
        run(installed, "-m", "pip", *quiet, "install", wheel, cwd=folder)
        run(installed, "-m", "pip", "check", cwd=folder)
        run(folder / "environment" / "bin" / "kinetograph", "--version", cwd=folder)
        return run(installed, "-c", PROGRAM, cwd=folder).split()[-1]


def main(dist: str, *pythons: str) -> None:
    """Check all files of a folder."""
    folder = Path(dist).resolve()
    (wheel,) = folder.glob("*.whl")
    (source,) = folder.glob("*.tar.gz")
    with tempfile.TemporaryDirectory() as name:
        pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "-qq")
        run(*pip, "wheel", "--no-deps", "--wheel-dir", name, source, cwd=folder)
        (again,) = Path(name).glob("*.whl")
        if members(again) != members(wheel):
            different = {*members(again).items()} ^ {*members(wheel).items()}
            sys.exit(f"the source distribution gives another wheel: {sorted(different)}")
    for python in pythons:
        version = check_python(python, wheel)
        if f"-{version}-" not in wheel.name:
            sys.exit(f"{wheel.name} has version {version}")
        print(f"{python}: installed and ran {wheel.name}")


if __name__ == "__main__":
    main(*sys.argv[1:])
