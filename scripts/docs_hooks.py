"""What the build of the documentation draws itself."""

import runpy
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


def on_pre_build(config: Any) -> None:
    """Draw the picture of step-size errors."""
    drawing = runpy.run_path(str(ROOT / "examples" / "plot_step_errors.py"))
    drawing["main"](str(ROOT / "docs" / "images" / "step_errors.svg"))
