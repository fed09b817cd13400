"""What the build of the documentation draws itself."""

import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]


def on_pre_build(config: Any) -> None:
    """Draw the picture of step-size errors."""
    drawing = runpy.run_path(str(ROOT / "examples" / "plot_step_errors.py"))
    drawing["main"](str(ROOT / "docs" / "images" / "step_errors.svg"))


def on_startup(command: str, dirty: bool) -> None:
    """Run the pages of the gallery and draw their pictures, once; not for a server of drafts."""
    if command == "build":
        subprocess.run([sys.executable, ROOT / "scripts" / "draw_gallery.py"], check=True)
