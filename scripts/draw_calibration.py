"""Draw the picture of calibration on the page of networks.

python scripts/draw_calibration.py
"""

import sys
from pathlib import Path
from typing import Any

import matplotlib

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
matplotlib.use("Agg")

from tests.docs.pages import run_page  # noqa: E402


def main() -> None:
    """Run the page and save its picture."""
    variables: dict[str, Any] = {}
    for _ in run_page(ROOT / "docs" / "neural.md", variables):
        pass
    variables["axes"].figure.savefig(ROOT / "docs" / "images" / "calibration.png", dpi=100)


if __name__ == "__main__":
    main()
