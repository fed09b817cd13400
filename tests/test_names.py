"""The public names."""

import subprocess
import sys


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
    assert "Did you mean: 'while_loop'?" in made.stderr
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
        "assert {*kg.__all__, 'runs'} <= names, {*kg.__all__, 'runs'} - names\n"
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
