"""The public names."""

import ast
import builtins
import importlib
import inspect
import re
import subprocess
import sys
import traceback
import typing
from operator import attrgetter
from pathlib import Path

import pytest

import kinetograph as kg
from kinetograph.calls.other_libraries import ELSEWHERE


def test_names_are_suggested_and_libraries_are_imported_when_first_used():
    code = (
        "import sys, traceback, kinetograph as kg\n"
        "late = ('kinetograph.laws', 'optax', 'scipy.optimize', 'xarray')\n"
        "print([name for name in late if name in sys.modules])\n"
        "try:\n    kg.whille_loop\nexcept AttributeError:\n    traceback.print_exc()\n"
        "kg.laws.oscillator\n"
        "print('scipy.stats' in sys.modules)"
    )
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    assert made.stderr.count("did you mean 'while_loop'?") == 1
    assert made.stdout.split() == ["[]", "False"]


def test_nothing_is_imported_before_the_first_public_name_is_used():
    code = (
        "import sys, kinetograph as kg\n"
        "from kinetograph.cli import main\n"
        "for call in (['--help'], ['--version'], ['sample', '--help'], ['graph', 'nowhere.py']):\n"
        "    try:\n        main(call)\n    except SystemExit:\n        pass\n"
        "assert kg.__version__ and not hasattr(kg, '__wrapped__') and not hasattr(kg, '_name')\n"
        "heavy = {'jax', 'numpy', 'xarray', 'kinetograph.public'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
        "names = {*dir(kg)}\n"
        "rest = {name for name in names if not name.startswith('__')}\n"
        "assert rest == {*kg.public.__all__}, rest ^ {*kg.public.__all__}\n"
        "kg.mcmc = None\n"
        "assert kg.laws and kg.Drawing and kg.runs and kg.mcmc is None\n"
    )
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    assert "Usage: -c sample" in made.stdout
    assert "there is no file nowhere.py" in made.stderr


def test_what_few_runs_ask_for_is_imported_by_none_of_the_others():
    code = (
        "import sys, kinetograph as kg\n"
        "kg.mcmc, kg.normal\n"
        "late = ('scipy.special', 'scipy.linalg', 'kinetograph.approximations.pathfinder',\n"
        "        'kinetograph.approximations.advi', 'kinetograph.gp')\n"
        "print([name for name in late if name in sys.modules])\n"
        "assert kg.pathfinder and kg.advi and kg.laplace_approximation and kg.gp.rbf\n"
    )
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    assert made.stdout.split() == ["[]"]


@pytest.mark.parametrize(
    ("look", "text"),
    [
        (lambda: kg.norml, "module 'kinetograph' has no attribute 'norml'; did you mean 'normal'?"),
        (lambda: kg.halfnormal, "did you mean 'half_normal'?"),
        (lambda: kg.HalfNormal, "did you mean 'half_normal'?"),
        (lambda: kg.Normal, "did you mean 'normal'?"),
        (lambda: kg.sample, "as kg.normal(0, 1), and kg.mcmc(model) samples it"),
        (lambda: kg.LogitNormal, "kg.ilogit(kg.normal(mean, sd))"),
        (lambda: kg.AutoNormal, "here it is kg.advi(model)"),
        (lambda: kg.Kumaraswamy, "write it as kg.distribution"),
        (lambda: kg.normal_lpdf, "; here it is kg.log_density(kg.normal(...), x)"),
        (lambda: kg.neg_binomial_2_lccdf, "kg.log_survival(kg.negative_binomial(mean="),
        (lambda: kg.poisson_rng, "; here it is kg.poisson(...), in kg.simulate(model)"),
        (lambda: kg.model(kg.normal(0, 1)).compile_dlogp, "here it is model.gradient(q)"),
        (lambda: kg.my_lpmf, "; here it is kg.log_density(distribution, x)"),
        (lambda: kg.MCMC, "did you mean 'mcmc'?"),
        (lambda: kg.NUTS, "it is kg.samplers.NUTS"),
        (lambda: kg.adam, "it is kg.optimizers.adam"),
        (lambda: kg.RBF, "it is kg.gp.rbf"),
        (lambda: kg.StudentT, "here it is kg.student"),
        (lambda: kg.MvNormal, "here it is kg.multivariate_normal"),
        (lambda: kg.Deterministic, "kg.model(name=array) records an array under a name"),
        (lambda: kg.array, "NumPy's arrays are taken everywhere"),
        (lambda: kg.grad, "here it is kg.gradients(y, xs)"),
        (lambda: kg.sigmoid, "here it is kg.ilogit"),
        (lambda: kg.qwxzy, "module 'kinetograph' has no attribute 'qwxzy'"),
        (lambda: kg.samplers.Nuts, "did you mean 'NUTS'?"),
        (lambda: kg.samplers.RandomWolk, "did you mean 'RandomWalk'?"),
        (lambda: kg.observables.kinetic_energi, "did you mean 'kinetic_energy'?"),
        (lambda: kg.optimizers.Adam, "did you mean 'adam'?"),
        (lambda: kg.gp.matern_52, "did you mean 'matern52'?"),
        (lambda: kg.laws.oscilator, "did you mean 'oscillator'?"),
        (lambda: kg.ode.odeint, "here it is kg.ode.solve"),
        (
            lambda: kg.data([1.0]).sumn,
            "; did you mean 'sum'?",
        ),
        (
            lambda: kg.model(kg.normal(0, 1)).log_porb,
            "; did you mean 'log_prob'?",
        ),
        (lambda: kg.random.nomal, "did you mean 'normal'?"),
        (lambda: kg.Dataset([1.0]).bacth, "did you mean 'batch'?"),
    ],
)
def test_what_may_be_meant_is_in_the_text(look, text):
    """A notebook and the command show nothing else."""
    with pytest.raises(AttributeError) as caught:
        look()
    said = str(caught.value)
    assert text in said
    shown = traceback.format_exception_only(caught.value)[-1]
    assert shown.rstrip().endswith(said), shown  # Python adds no hint of its own


def test_other_libraries_names_are_none_of_ours():
    ours = {*kg.public.__all__}
    assert not set(ELSEWHERE) & ours


SOURCES = sorted(Path(kg.__file__).parent.rglob("*.py"))
OF_OTHERS = {"linalg.solve"}  # in texts about paths that there are not


@pytest.mark.parametrize("package", sorted({path.parent for path in SOURCES}), ids=lambda p: p.name)
def test_the_names_in_messages_exist(package):
    """All texts of the source are read, and so are all tables of advice."""
    for path in package.glob("*.py"):
        texts = [n.value for n in ast.walk(ast.parse(path.read_text("utf-8"))) if is_text(n)]
        paths = {each for text in texts for each in re.findall(r"\bkg\.((?:\w+\.)*\w+)", text)}
        for name in paths - OF_OTHERS:
            attrgetter(name)(kg)


BENCHMARKS = sorted((Path(__file__).parents[1] / "benchmarks").glob("*.py"))


@pytest.mark.parametrize("path", BENCHMARKS, ids=lambda path: path.stem)
def test_benchmarks_import_names_that_exist(path):
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("kinetograph"):
            module = importlib.import_module(node.module)
            for alias in node.names:
                if not hasattr(module, alias.name):
                    importlib.import_module(f"{node.module}.{alias.name}")


def is_text(node) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def test_an_error_of_a_property_is_told_as_it_is():
    with pytest.raises(AttributeError, match="not a random draw"):
        kg.normal(0, 1).rng
    assert not hasattr(kg.data([1.0]), "_sum")


@pytest.mark.parametrize(
    "module",
    [
        kg.samplers,
        kg.observables,
        kg.ode,
        kg.gp,
        kg.laws,
        kg.neural,
        kg.neural.analysis,
        kg.neural.calibration,
        kg.formulas,
        kg,
    ],
)
def test_completion_offers_what_is_public(module):
    names = kg.public.__all__ if module is kg else module.__all__
    assert [name for name in dir(module) if not name.startswith("__")] == sorted(names)

    assert "__doc__" in dir(module)


def test_annotations_can_be_evaluated():
    """By tools that ask for them when the code runs; xarray is not imported for that."""
    for name in kg.public.__all__:
        public = getattr(kg, name)
        if inspect.isfunction(public):
            assert "return" in typing.get_type_hints(public), name


PACKAGES = [kg, kg.autograph, kg.gp, kg.laws, kg.neural, kg.observables, kg.ode, kg.optimizers]
PACKAGES += [kg.formulas, kg.neural.analysis, kg.neural.calibration, kg.samplers]


def decorators(value) -> list[str]:
    """The decorators of a function or class, as its file has them."""
    tree = ast.parse(Path(sys.modules[value.__module__].__file__).read_text(encoding="utf-8"))
    kinds = (ast.FunctionDef, ast.ClassDef)
    named = [n for n in tree.body if isinstance(n, kinds) and n.name == value.__name__]
    return [ast.unparse(decorator) for decorator in named[-1].decorator_list]


@pytest.mark.parametrize("module", [*PACKAGES, kg.streams], ids=lambda module: module.__name__)
def test_public_functions_and_classes_have_the_decorator(module):
    lacking = []
    for name in module.__all__:
        value = getattr(module, name)
        if inspect.isclass(value) and issubclass(value, (BaseException, tuple)):
            continue
        if inspect.isclass(value) or inspect.isfunction(value):
            first = [*decorators(value), ""][0].partition("(")[0]
            if first not in ("public", "declared"):
                lacking.append(f"{value.__module__}.{name}")
    assert not lacking


def test_a_star_import_leaves_the_builtins_as_they_are():
    space = {}
    exec("from kinetograph import *", space)
    assert {"range", "sum", "print"} <= {*kg.public.__all__}
    assert not {name for name in space if hasattr(builtins, name)} - {"__builtins__"} & {*dir(kg)}
    assert space["normal"] is kg.normal
    assert kg.range is not range
