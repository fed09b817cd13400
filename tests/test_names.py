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
