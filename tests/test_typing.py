"""What mypy makes of users' scripts: the examples, and calls of everything that is public."""

import inspect
from pathlib import Path

import kinetograph as kg
from kinetograph import distributions
from kinetograph.graph import functions, mathematics

ROOT = Path(__file__).resolve().parents[1]
OF_ARRAYS = {*distributions.__all__, *functions.__all__, *mathematics.__all__}
# What kinetograph stands on is not read: this is about its own signatures, and takes seconds so.
CONFIG = """
[mypy]
check_untyped_defs = true
ignore_missing_imports = true
cache_dir = {cache}
[mypy-jax.*,jaxlib.*,xarray.*,pandas.*,scipy.*,arviz_base.*,arviz_stats.*,rich.*,click.*,optax.*]
follow_imports = skip
[mypy-matplotlib.*,blackjax.*]
follow_imports = skip
"""


def call(name):
    """A call with every parameter that the function has when it runs."""
    written = []
    parameters = list(inspect.signature(getattr(kg, name)).parameters.values())
    by_place = {inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.VAR_POSITIONAL}
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        by_place.add(inspect.Parameter.POSITIONAL_OR_KEYWORD)
    for parameter in parameters:
        if parameter.kind in by_place:
            written.append("v")
        elif parameter.kind is not parameter.VAR_KEYWORD:
            written.append(f"{parameter.name}=v")
    return f"kg.{name}({', '.join(written)})"


def test_examples_and_calls_of_every_public_function(tmp_path):
    lines = ["from typing import Any, assert_type", "import kinetograph as kg", "v: Any = None"]
    for name in kg.__all__:
        public = getattr(kg, name)
        if name in OF_ARRAYS:
            lines.append(f"assert_type({call(name)}, kg.Array)")
        elif inspect.isfunction(public):
            lines.append(call(name))
        else:
            lines.append(f"kg.{name}")
        assert not callable(public) or inspect.getdoc(public), name
    for sampler in kg.samplers.__all__:
        lines.append(f"kg.mcmc(v, sampler=kg.samplers.{sampler}())")
    lines.append("kg.norml(0, 1)")
    script = tmp_path / "script.py"
    script.write_text("\n".join(lines) + "\n")
    config = tmp_path / "mypy.ini"
    config.write_text(CONFIG.format(cache=ROOT / ".mypy_cache" / "users"))
    from mypy import api

    examples = map(str, sorted((ROOT / "examples").glob("*.py")))
    out, err, _ = api.run(["--config-file", str(config), str(script), *examples])
    assert not err
    found = [line for line in out.splitlines() if ": error:" in line]
    assert len(found) == 1, out
    assert f"script.py:{len(lines)}: error: Module has no attribute" in found[0]
