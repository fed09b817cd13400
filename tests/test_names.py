"""The public names."""

import subprocess
import sys


def test_a_misspelt_name_gets_a_suggestion():
    code = "import kinetograph as kg; kg.whille_loop"
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "Did you mean: 'while_loop'?" in made.stderr


def test_the_test_kit_is_imported_when_first_used():
    code = (
        "import sys, kinetograph as kg; before = 'kinetograph.laws' in sys.modules; "
        "kg.laws.oscillator; print(before, 'scipy.stats' in sys.modules)"
    )
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert made.stdout.split() == ["False", "False"], made.stderr
