"""The public names."""

import subprocess
import sys


def test_a_misspelt_name_gets_a_suggestion():
    code = "import kinetograph as kg; kg.whille_loop"
    made = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "Did you mean: 'while_loop'?" in made.stderr
