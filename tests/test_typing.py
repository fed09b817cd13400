"""What type checkers make of users' programs: all that the documentation shows, the examples, and
calls of all that is public.
"""

import inspect
import json
import re
import subprocess
import sys
import typing
from pathlib import Path

import pytest
from tests.docs.programs import write_programs

import kinetograph as kg
from kinetograph import distributions
from kinetograph.graph import functions
from kinetograph.graph.control.loops import GRADS
from kinetograph.models.marginal.pointwise import GIVEN
from kinetograph.ode.tableaus import TABLEAUS
from kinetograph.runs.chain_method import CHAIN_METHODS

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
WRITTEN = [*EXAMPLES, ROOT / "tests" / "for_checkers.py"]
# Lines of which a checker complains, and why it should.
WRONG = {
    ("script.py", "kg.norml(0, 1)"): "no such name",
    ("script.py", "kg.samplers.NUTS(target_accept=0.9)"): "no such setting",
    ("script.py", "kg.normal(mu=0, sigmaa=1)"): "no such parameter, under any name",
    ("docs_coming_from.py", "kg.mcmc(None, num_warmup=500)"): "the page shows the answer",
    ("docs_autograph.py", "return y"): "so does this one",
}
# Lines that pass, but for annotations of ArviZ, blackjax, SciPy and pandas.
OTHERS = re.compile(
    r"\bloo\b|nuts\.init|state\.position|psense|arviz_plots\.(style|plot_forest)|nsmallest"
    r"|arviz_stats\.compare|stats\.(norm|halfnorm)\("
)
OF_ARRAYS = {*distributions.__all__, *functions.__all__}
OF_ARRAYS -= {"distribution", "eigh", "qr", "slogdet", "svd"}  # which give several, or a function
# What kinetograph stands on is not read: this is about its own signatures, and takes seconds so.
CONFIG = """
[mypy]
check_untyped_defs = true
allow_redefinition = true
disable_error_code = var-annotated
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


def arguments():
    """Calls with each sampler and optimizer."""
    for sampler in sorted(set(kg.samplers.__all__) - {"Integrator"}):
        yield f"kg.mcmc(v, sampler=kg.samplers.{sampler}())"
    for optimizer in kg.optimizers.__all__:
        yield f"kg.opt(v, kg.optimizers.{optimizer}())"


def source(file, line):
    """The name of a file, and what stands on a line of it."""
    return file.name, file.read_text(encoding="utf-8").splitlines()[line - 1].strip()


def complained_of(places):
    """The lines with errors that are ours."""
    return {place for place in places if not OTHERS.search(place[1])}


@pytest.mark.docs
def test_mypy_on_programs_and_calls_of_every_public_function(tmp_path):
    lines = ["from typing import Any, assert_type", "import kinetograph as kg", "v: Any = None"]
    for name in kg.public.__all__:
        public = getattr(kg, name)
        if name in OF_ARRAYS:
            lines.append(f"assert_type({call(name)}, kg.Array)")
        elif inspect.isfunction(public):
            lines.append(call(name))
        else:
            lines.append(f"kg.{name}")
    lines += [*arguments(), *(line for file, line in WRONG if file == "script.py")]
    script = tmp_path / "script.py"
    script.write_text("\n".join(lines) + "\n")
    config = tmp_path / "mypy.ini"
    config.write_text(CONFIG.format(cache=ROOT / ".mypy_cache" / "users"))
    from mypy import api

    (tmp_path / "programs").mkdir()
    files = [script, *WRITTEN, *write_programs(tmp_path / "programs")]
    out, err, _ = api.run(["--config-file", str(config), *map(str, files)])
    assert not err
    found = re.findall(r"^(.*):(\d+): error:", out, re.MULTILINE)
    places = {source(Path(file), int(line)) for file, line in found}
    assert complained_of(places) == {*WRONG} - {("docs_autograph.py", "return y")}, out


# What a user gets, in the words of pyright.
TYPES = {
    "x": "Array",
    "2 * x + x @ x - x[0] ** 2": "Array",
    "x > 0": "Array",
    "x.at[0].set(1.0)": "Array",
    "x.shape": "tuple[int, ...]",
    "x.loop.trips": "Array",
    "[row for row in x]": "list[Array]",
    "model": "Model",
    "model.log_prob([0.0])": "ndarray[tuple[Any, ...], dtype[Any]]",
    "model.gradient([0.0])": "ndarray[tuple[Any, ...], dtype[Any]]",
    "model.transform([0.0])": "dict[str, ndarray[tuple[Any, ...], dtype[Any]]]",
    "model.plot()": "Drawing",
    "model.debug()": "DebugReport",
    "tree": "DataTree",
    'tree["posterior"]': "ResultsGroup",
    "tree.posterior": "ResultsGroup",
    'tree["posterior"]["x"]': "DataArray",
    'tree["posterior"].to_dataset()': "Dataset",
    # NumPy's signatures decide: its operators leave the type open, and its functions do not.
    "np.ones(3) * x": "Any",
    "np.ones(3) @ x": "Any",
    "np.float64(2) * x": "Array",
    "np.sum(x)": "Any",
    "np.exp(x)": "ndarray[tuple[Any, ...], dtype[Any]]",
    'float((tree["posterior"]["x"] > 2).mean())': "float",
    "kg.summary(tree)": "Summary",
    "kg.diagnose(tree)": "list[Advice]",
    "kg.compile([x], x)": "Function",
    "kg.gradients(x.sum(), x)": "Array",
    "kg.gradients(x.sum(), [x, x])": "list[Array]",
    "kg.hessian(x.sum(), x)": "Array",
    "kg.jacobian(x, x)": "Array",
    "kg.jacobian(x, [x])": "list[Array]",
    "kg.hessian(x.sum(), (x, x))": "list[list[Array]]",
    "kg.jvp(x, x, x)": "Array",
    "kg.function(len)": "StagedFunction",
    "staged": "StagedFunction",
    "kg.vmap(len)": "(...) -> Any",
    "kg.eigh(x)": "Eigh",
    "kg.slogdet(x).logabsdet": "Array",
    "kg.distribution(len)(1.0)": "Array",
    "kg.gp.rbf(1.0)(v)": "Array",
    "kg.draw_graph(x)": "Drawing",
    "kg.debug(x)": "DebugEvaluation",
    "kg.state(0.0).assign_add(1.0)": "Array",
    "kg.random": "RandomStreams",
    "kg.random.normal(shape=3)": "Array",
    "kg.RandomStreams(1).getstate(staged)": "SavedStreams",
    "kg.streams.draw": "(distribution: str, rng: Any, *parameters: Any, shape: Any = None, "
    "dtype: Any = None, strict: bool = False) -> tuple[Array, Array]",
    "kg.range(3)": "Array",
    "kg.range(x)": "Range",
    "x * kg.gp.rbf(1.0)": "Kernel",
    "kg.simulate(model)": "DataTree",
    "kg.predict(model, tree)": "DataTree",
    "kg.opt(model).standard_errors": "dict[str, ndarray[tuple[Any, ...], dtype[Any]]] | Any",
    "kg.Dataset.range(3).shuffle(seed=1).batch(2)": "Dataset",
    "kg.autograph.do_not_convert(len)": "(obj: Sized, /) -> int",
}
HEAD = """
from typing import Any
import numpy as np
import kinetograph as kg
v: Any = None
x = kg.normal(0, 1)
model = kg.model(x, kg.normal(x, 1.0, name="y"))
tree = kg.mcmc(model, sampler=kg.samplers.Slice())
tree = kg.mcmc(model, kg.samplers.NUTS(), draws=10, seed=1)
@kg.function(static_argnames="n")
def staged(x: Any, n: int = 3) -> Any:
    return n * x
"""
# Not decided for arguments of any type.
OVERLOADED = {"function", "gradients", "hessian", "jacobian", "jvp", "range"}


def pyright(folder, files):
    """What pyright says: the errors by their place, and the types that were asked for, by line."""
    settings = {
        "include": [str(file) for file in files],
        "typeCheckingMode": "standard",
        "extraPaths": [str(ROOT / "src"), str(ROOT / "examples")],
        "venvPath": str(Path(sys.prefix).parent),
        "venv": Path(sys.prefix).name,
        "pythonVersion": "{}.{}".format(*sys.version_info),  # else that of the `python` on PATH
    }
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    command = [sys.executable, "-m", "basedpyright", "-p", str(folder), "--outputjson"]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=300)
    found = json.loads(answer.stdout)["generalDiagnostics"]
    errors = {}
    for d in found:
        if d["severity"] == "error":
            errors[source(Path(d["file"]), d["range"]["start"]["line"] + 1)] = d["message"]
    types = {}
    for note in found:
        told = re.fullmatch(r'Type of "(.*)" is "(.*)"', note["message"], re.DOTALL)
        if told:
            types[note["range"]["start"]["line"]] = told[2]
    return errors, types


def test_what_is_public_is_described():
    for name in kg.public.__all__:
        public = getattr(kg, name)
        assert not callable(public) or inspect.getdoc(public), name


CHOICES = [
    (kg.mcmc, "chain_method", CHAIN_METHODS),
    (kg.log_likelihood, "given", GIVEN),
    (kg.while_loop, "grad", GRADS),
    (kg.autograph.set_loop_options, "grad", GRADS),
    (kg.ode.solve, "grad", GRADS),
    (kg.ode.solve, "method", (*TABLEAUS, "rodas5p")),
]


@pytest.mark.parametrize(("function", "parameter", "known"), CHOICES)
def test_editors_offer_what_can_be_chosen(function, parameter, known):
    parts = typing.get_args(typing.get_type_hints(function)[parameter])
    (offered,) = (part for part in parts if typing.get_origin(part) is typing.Literal)
    assert typing.get_args(offered) == tuple(known)
    assert str in parts  # a variable may hold it


@pytest.mark.docs
def test_pyright_knows_the_types_of_what_is_public(tmp_path):
    asked = dict(TYPES)
    for name in kg.public.__all__:
        public = getattr(kg, name)
        if name in OF_ARRAYS:
            asked[call(name)] = "Array"
        elif name not in OVERLOADED:
            asked[call(name) if inspect.isfunction(public) else f"kg.{name}"] = None
    for owner, kind in (("x", kg.Array), ("model", kg.Model), ("kg.random", kg.RandomStreams)):
        asked.update({f"{owner}.{name}": None for name in dir(kind) if not name.startswith("_")})
    for module in (kg.ode, kg.gp, kg.autograph, kg.streams, kg.samplers):
        name = module.__name__.replace("kinetograph", "kg")
        asked.update({f"{name}.{public}": None for public in module.__all__})
    head = HEAD.splitlines()
    lines = [*head, *(f"reveal_type({expression})" for expression in asked)]
    lines += [*arguments(), *(line for file, line in WRONG if file == "script.py")]
    script = tmp_path / "script.py"
    script.write_text("\n".join(lines) + "\n")
    (tmp_path / "programs").mkdir()
    programs = write_programs(tmp_path / "programs")
    written = [file for file in WRITTEN if "plot" not in file.name]
    errors, types = pyright(tmp_path, [script, *written, *programs])
    assert complained_of(errors) == {*WRONG}, errors
    found = {expression: types[len(head) + i] for i, expression in enumerate(asked)}
    assert not {e: t for e, t in found.items() if "Unknown" in t}
    wanted = {expression: kind for expression, kind in asked.items() if kind is not None}
    assert {expression: found[expression] for expression in wanted} == wanted


@pytest.mark.slow
def test_pyright_on_examples_that_draw(tmp_path):
    errors, _ = pyright(tmp_path, [e for e in EXAMPLES if "plot" in e.name])
    assert not errors
