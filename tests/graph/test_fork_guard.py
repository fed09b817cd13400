"""Processes made by fork and spawn, in scripts with a time limit."""

import os
import subprocess
import sys
import textwrap

import pytest


def run(tmp_path, text):
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(text))
    done = subprocess.run(
        [sys.executable, "-W", "ignore", script],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert not done.returncode, done.stderr
    return done.stdout


MODEL = """
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor
    import kinetograph as kg

    def attempt(what, *arguments):
        try:
            return str(what(*arguments))
        except Exception as error:
            return f"{type(error).__name__}: {error}"

    def density(u):
        x = kg.normal(0, 1, name="x")
        return kg.model(x).log_prob([u]).round(4)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_children_forked_before_anything_is_computed_work_and_later_ones_say_why_not(tmp_path):
    out = run(
        tmp_path,
        MODEL
        + """
    x = kg.placeholder(name="x")
    compiled = kg.compile(x, x * 2)
    staged = kg.function(lambda x: x * 2)
    model = kg.model(kg.normal(0, 1, name="z"))

    def everything(_):
        calls = [(compiled, 1.0), (staged, 1.0), (model.log_prob, [0.0]), (model.gradient, [0.0]),
                 (model.potential(), [0.0]), (kg.mcmc, model), (density, 0.0)]
        return [attempt(*call) for call in calls]

    if __name__ == "__main__":
        fork = multiprocessing.get_context("fork")
        with fork.Pool(1) as pool:
            print(pool.map(compiled, [2.0])[0])
        print(compiled(1.0))
        with fork.Pool(1) as pool:
            for line in pool.map(everything, [0])[0]:
                print(line)
    """,
    )
    first, second, *others = out.splitlines()
    assert (first, second) == ("4.0", "2.0")
    assert len(others) == 7
    for line in others:
        assert line.startswith("ForkError: ")
        assert "get_context('spawn')" in line
        assert "forkserver" in line


@pytest.mark.slow
def test_spawned_workers_make_models_of_their_own(tmp_path):
    out = run(
        tmp_path,
        MODEL
        + """
    if __name__ == "__main__":
        print(density(1.0))
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(1, mp_context=context) as pool:
            print(*pool.map(density, [0.0, 1.0]))
    """,
    )
    assert out.split() == ["-1.4189", "-0.9189", "-1.4189"]
