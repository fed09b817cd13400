"""Run tests of a copied tree in forks of one process.

The parent process has imported JAX. A run without a mutant records the time of each test and the
lines of the sources that the test executes.
"""

import contextlib
import hashlib
import importlib
import multiprocessing
import os
import pickle
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import jax
import pytest

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / ".cache" / "mutants"  # runs without a mutant, and compiled XLA programs
SLOWLY_IMPORTED = ("scipy.stats", "scipy.special", "hypothesis.strategies", "mpmath", "jax.numpy")


class Test(NamedTuple):
    """A passing test with its time and its executed lines."""

    seconds: float  # processor time, which does not depend on other load
    lines: dict[str, int]  # per file, one bit per executed line


class Plugin:
    """Selects tests, and records failures and executed lines."""

    def __init__(self, tree: Path, wanted: dict[str, float] | None) -> None:
        self.sources = str(tree / "src")
        self.wanted = wanted  # None: all tests, traced
        self.failed: str | None = None
        self.tests: dict[str, Test] = {}
        self.lines: dict[str, int] = {}

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        if (wanted := self.wanted) is not None:
            items[:] = sorted(
                (item for item in items if item.nodeid in wanted),
                key=lambda item: wanted[item.nodeid],
            )

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Any:
        self.lines, failed, self.failed = {}, self.failed, None
        if self.wanted is None:
            sys.monitoring.restart_events()
        begun = time.process_time()
        made = yield
        if self.failed is None:
            self.tests[item.nodeid] = Test(time.process_time() - begun, self.lines)
        self.failed = failed or self.failed
        return made

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.failed = self.failed or report.nodeid

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self.failed = self.failed or f"{report.nodeid}::"

    def trace(self) -> None:
        monitoring = sys.monitoring
        monitoring.use_tool_id(monitoring.COVERAGE_ID, "mutants")

        def executed(code: Any, line: int) -> Any:
            if code.co_filename.startswith(self.sources):
                self.lines[code.co_filename] = self.lines.get(code.co_filename, 0) | 1 << line
            return monitoring.DISABLE

        monitoring.register_callback(monitoring.COVERAGE_ID, monitoring.events.LINE, executed)
        monitoring.set_events(monitoring.COVERAGE_ID, monitoring.events.LINE)


class Tree:
    """A copy of the tree, and its tests."""

    def __init__(self, folder: Path) -> None:
        """Copy the files that git knows or would take."""
        self.folder = folder
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True)
        for name in filter(None, listed.stdout.split("\0")):
            if (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, folder / name)
        # A mutant may have the size and the modification time of the original file.
        command = [sys.executable, "-m", "compileall", "-q", "--invalidation-mode", "checked-hash"]
        subprocess.run([*command, "src"], cwd=folder, check=True)
        self._sound: dict[Path, dict[str, Test]] = {}

    def files(self, folder: Path) -> list[Path]:
        return sorted(p.relative_to(self.folder) for p in (self.folder / folder).rglob("test_*.py"))

    def sound(self, file: Path, module: Path) -> dict[str, Test]:
        """Passing tests of a file without a mutant, with their executed lines."""
        if file not in self._sound:
            place = self._place(file)
            known = self._digests(file)
            kept = pickle.loads(place.read_bytes()) if place.exists() else ({}, {})
            if any(kept[0].get(p) != known[p] for p in (str(file), str(module))):
                plugin, _ = self._run([file], None, 3600)
                if plugin is None:
                    sys.exit(f"{file} cannot be run: see {self.folder / 'log'}")
                kept = known, plugin.tests
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(pickle.dumps(kept))
            self._sound[file] = kept[1]
        return self._sound[file]

    def failing(self, tests: dict[str, Test]) -> str | None:
        """The first failing test, or "time::" if the tests take too long."""
        if not tests:
            return None
        files = dict.fromkeys(Path(name.split("::")[0]) for name in tests)
        limit = 30 + 4 * round(sum(test.seconds for test in tests.values()))
        plugin, code = self._run(files, {n: t.seconds for n, t in tests.items()}, limit)
        if plugin is None:
            return "time::" if code in (None, -signal.SIGXCPU) else "crash::"
        return plugin.failed or (None if code in (0, 5) else "pytest::")

    @staticmethod
    def _place(file: Path) -> Path:
        return KEPT / "sound" / f"{str(file).replace('/', '.')}.pickle"

    def _digests(self, file: Path) -> dict[str, str]:
        files = [self.folder / file, *(self.folder / "src").rglob("*.py")]
        return {str(p.relative_to(self.folder)): digest(p) for p in files}

    def _run(
        self, files: Iterable[Path], wanted: dict[str, float] | None, limit: int
    ) -> tuple[Plugin | None, int | None]:
        """Run tests in a fork; return the plugin and the exit code.

        The plugin is None if the fork ended without an answer.
        """
        answer = self.folder / "answer"
        answer.unlink(missing_ok=True)
        process = multiprocessing.get_context("fork").Process(
            target=self._in_fork, args=(list(map(str, files)), wanted, limit, answer)
        )
        process.start()
        process.join(600 + 20 * limit)  # for processes that wait without using the processor
        code = process.exitcode
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.join()
        if not answer.exists():
            return None, code
        return pickle.loads(answer.read_bytes())

    def _in_fork(
        self, files: list[str], wanted: dict[str, float] | None, limit: int, answer: Path
    ) -> None:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
        log = os.open(self.folder / "log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(log, 1)
        os.dup2(log, 2)
        os.chdir(self.folder)
        os.environ["PYTHONPATH"] = str(self.folder / "src")
        sys.path.insert(0, str(self.folder / "src"))
        plugin = Plugin(self.folder, wanted)
        if wanted is None:
            plugin.trace()
        command = [
            "-q",
            "-p",
            "no:cacheprovider",
            "-m",
            "not slow and not docs",
            "--quick-programs",
            f"--basetemp={self.folder}/tmp",
        ]
        code = pytest.main([*command, *(["-x"] if wanted else []), *files], plugins=[plugin])
        if wanted is None:
            sys.monitoring.set_events(sys.monitoring.COVERAGE_ID, 0)
            start = len(str(self.folder)) + 1
            for name, test in plugin.tests.items():
                lines = {path[start:]: bits for path, bits in test.lines.items()}
                plugin.tests[name] = Test(test.seconds, lines)
        partial = answer.with_suffix(".part")
        partial.write_bytes(pickle.dumps((plugin, int(code))))
        partial.rename(answer)
        os._exit(0)


def digest(file: Path) -> str:
    """The hash of the content of a file."""
    return hashlib.sha256(file.read_bytes()).hexdigest()


def prepare() -> None:
    """Import slow modules before the first fork, without starting a JAX backend."""
    for name in SLOWLY_IMPORTED:
        importlib.import_module(name)
    jax.config.update("jax_compilation_cache_dir", str(KEPT / "programs"))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
