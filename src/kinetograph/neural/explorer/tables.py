"""The tables of a search for minima, and its text."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ..landscape import Landscape
from .legs import Leg
from .minima import classify

__all__ = ["average_table", "corner_table", "is_minimum", "leg_row", "leg_table", "minima_table"]


def is_minimum(minima: pd.DataFrame) -> np.ndarray:
    """Whether each row is a minimum, also a degenerate one."""
    return np.array([str(kind).endswith("minimum") for kind in minima["kind"]], bool)


def leg_table(rows: Sequence[dict[str, Any]], minima: pd.DataFrame) -> pd.DataFrame:
    """The table of the legs, with the numbers of minima and saddles."""
    table, kinds = pd.DataFrame(rows), is_minimum(minima)
    legs = minima["leg"].to_numpy()
    table["new_minima"] = [int(np.sum(kinds & (legs == leg))) for leg in table["leg"]]
    table["minima"] = [int(np.sum(kinds & (legs <= leg))) for leg in table["leg"]]
    table["saddles"] = [int(np.sum(~kinds & (legs <= leg))) for leg in table["leg"]]
    return table


def leg_row(number: int, leg: Leg, values: np.ndarray, change: float) -> dict[str, Any]:
    """The row of a leg, without the numbers of minima."""
    potential = leg.potential[np.isfinite(leg.potential)]
    return {
        "leg": number,
        "rows": leg.potential.size,
        "mean_potential": potential.mean(),
        "sd_potential": potential.std(),
        **{f"eigenvalue{i}": value for i, value in enumerate(values, 1)},
        "change": change,
    }


def minima_table(landscape: Landscape, points: np.ndarray, origin: np.ndarray) -> pd.DataFrame:
    """The table of stationary points, by potential; their kinds come first."""
    potential = landscape.potential(points)
    order = np.argsort(potential, kind="stable")
    points = points[order]
    loss, accuracy = landscape.loss_and_accuracy(points) if len(points) else (points[:, 0],) * 2
    kinds = classify(landscape, points)
    columns = {
        "kind": kinds.pop("kind"),
        "potential": potential[order],
        "loss": loss,
        "accuracy": accuracy,
        "gradient_norm": np.linalg.norm(landscape.gradient(points), axis=-1),
        **kinds,
        "leg": origin[order],
    }
    return pd.DataFrame(columns | dict(zip(landscape.names, points.T, strict=True)))


def corner_table(landscape: Landscape, corners: list[tuple[int, np.ndarray]]) -> pd.DataFrame:
    """The table of corner points."""
    points = np.concatenate([part for _, part in corners])
    legs = np.repeat([number for number, _ in corners], [len(part) for _, part in corners])
    columns = {"leg": legs, "potential": landscape.potential(points)}
    return pd.DataFrame(columns | dict(zip(landscape.names, points.T, strict=True)))


def average_table(landscape: Landscape, legs: list[Leg]) -> pd.DataFrame:
    """The table of averages over all rows."""
    rows = np.concatenate([leg.draws.reshape(-1, landscape.size) for leg in legs])
    columns = {"parameter": landscape.names, "mean": rows.mean(0), "sd": rows.std(0)}
    return pd.DataFrame(columns)
