"""The sections of a report with pictures.

Without matplotlib they say how to install it.
"""

from typing import Any

import numpy as np

from .. import diagnostics
from ..convergence import ESS_PER_CHAIN
from . import pictures
from .figures import INSTALL, SHOWN, Studio
from .page import cells, chain_key, code, escape, figure_box, note
from .selection import Selection

__all__ = ["diverged", "energies", "quantities", "running"]

SCALARS = 20  # the largest number of scalars with pictures
MARKED = 500  # divergences that are marked
USUAL = 2000  # other draws that are shown with them
PAIRS = 3
_NONE = "No draws to show."
_NO_PICTURES = f"<p>Pictures need matplotlib: {code(INSTALL)}</p>"


def quantities(selection: Selection, studio: Studio | None) -> str:
    """Trace, density and ranks of each scalar, or of the worst ones."""
    if not selection.draws or not selection.scalars:
        return note(_NONE)
    if studio is None:
        return _NO_PICTURES
    places = selection.worst(SCALARS)
    parts = []
    if len(places) < len(selection.scalars):
        parts.append(
            note(
                f"The worst {len(places)} of {len(selection.scalars)}, by R-hat and effective "
                "sample size; the table above has the remaining ones."
            )
        )
    if selection.every > 1:
        parts.append(note(f"From every {selection.every}th draw."))
    kind = "chain" if selection.walkers == 1 else "ensemble"
    entries = [(f"c{i}", f"{kind} {n}") for i, n in enumerate(selection.numbers[:SHOWN])]
    if selection.chains > SHOWN:
        entries.append(("muted", f"the {selection.chains - SHOWN} other {kind}s"))
    if selection.chains > 1:
        entries.append(("dashed", f"ranks if all {kind}s agree"))
    if selection.diverging.any():
        entries.append(("bad", "divergences"))
    parts.append(chain_key(entries))
    parts += [_panels(selection, studio, place) for place in places]
    return "\n".join(parts)


def _panels(selection: Selection, studio: Studio, place: int) -> str:
    scalar = selection.scalars[place]
    name, target, _ = scalar
    draws = selection.values(scalar)
    chains = diagnostics.together(draws, selection.walkers)
    whole_numbers = selection.posterior[target].dtype.kind in "iub"
    table = selection.summary
    facts = [
        f"{text} {table[column][place]:{form}}"
        for column, text, form in (
            ("mean", "mean", ".4g"),
            ("sd", "sd", ".3g"),
            ("r_hat", "R-hat", ".3f"),
            ("ess_bulk", "ESS bulk", ".0f"),
            ("ess_tail", "tail", ".0f"),
        )
        if table is not None and np.isfinite(table[column][place])
    ]
    bad = _evenly(np.flatnonzero(selection.diverging.any(0)), MARKED)
    suffix = " of the logarithm" if pictures.logarithmic(chains) else ""
    not_finite = int((~np.isfinite(draws)).sum())
    if not_finite:
        facts.append(f"{not_finite} of {draws.size} draws are not finite")
    boxes = [
        figure_box(
            studio.figure(
                f"trace of {name}",
                lambda axes: pictures.trace(axes, draws, selection.every, selection.walkers, bad),
            ),
            "trace: value by draw" + (", divergences below" if len(bad) else ""),
        ),
        figure_box(
            studio.figure(
                f"density of {name}", lambda axes: pictures.density(axes, chains, whole_numbers)
            ),
            "frequency of each value" if whole_numbers else f"density{suffix}",
        ),
    ]
    if selection.chains > 1 and np.isfinite(chains).all() and selection.badness[place] >= 0:
        boxes.append(
            figure_box(
                studio.figure(f"ranks of {name}", lambda axes: pictures.ranks(axes, chains)),
                "ranks among all draws, from smallest to largest",
            )
        )
    head = (
        f"<h3>{escape(name)}</h3>\n{note(', '.join(facts))}"
        if facts
        else f"<h3>{escape(name)}</h3>"
    )
    return f'<div class="quantity">{head}\n<div class="panels">{"".join(boxes)}</div></div>'


def running(selection: Selection, studio: Studio | None) -> str:
    """The growth of the effective sample sizes of the worst scalars."""
    table = selection.summary
    if table is None or selection.tree["posterior"].sizes["draw"] < 40:
        return note("Fewer than 40 draws are too few for a picture.")
    places = [
        i for i in selection.worst(len(selection.scalars)) if np.isfinite(table["ess_bulk"][i])
    ]
    moving = [i for i in places if selection.badness[i] >= 0]
    moving.sort(key=lambda i: -selection.badness[i])
    moving = moving[:SHOWN]
    if not moving:
        return note("No quantity moves, or none is finite.")
    if studio is None:
        return _NO_PICTURES
    sizes_by_draws = [
        pictures.sizes_on_the_way(selection.values(selection.scalars[i])) for i in moving
    ]
    sizes_by_draws = [(counts * selection.every, sizes) for counts, sizes in sizes_by_draws]
    enough = ESS_PER_CHAIN * selection.chains
    key = [(f"c{k}", selection.scalars[i][0]) for k, i in enumerate(moving)]
    key.append(("dashed", f"enough: {enough}"))
    about = "It grows in proportion to the draws if the chains mix"
    few = f"; the worst {len(moving)} quantities" if len(moving) < len(selection.scalars) else ""
    picture = studio.figure(
        "effective sample size by draws",
        lambda axes: pictures.running(axes, sizes_by_draws, enough),
        (6.0, 2.8),
    )
    caption = "bulk effective sample size by the draws of each chain"
    return "\n".join([note(f"{about}{few}."), chain_key(key), figure_box(picture, caption)])


def energies(selection: Selection, studio: Studio | None) -> str:
    """Marginal and transition energy, and E-BFMI by chain.

    E-BFMI is the estimated Bayesian fraction of missing information.
    """
    values = selection.energies
    if values is None:
        return note(
            "No energy was recorded, there are too few draws, or some energies are not finite."
        )
    parts = []
    if int(selection.whole.attrs.get("thin", 1)) > 1:
        parts.append(
            note("The draws are thinned: energies change less from transition to transition.")
        )
    head = ["chain", *map(str, selection.numbers)]
    parts.append(cells(head, [["E-BFMI", *(f"{f:.3g}" for f in selection.e_bfmi)]]))
    if studio is None:
        return "\n".join([*parts, _NO_PICTURES])
    parts.append(chain_key([("muted", "marginal energy"), ("c0", "change from draw to draw")]))
    picture = studio.figure("energies", lambda axes: pictures.energy(axes, values), (6.0, 2.4))
    parts.append(figure_box(picture, "equally wide if fresh momenta can take a chain anywhere"))
    return "\n".join(parts)


def diverged(selection: Selection, studio: Studio | None) -> str:
    """The places of divergences, in pairs of scalars."""
    flags = selection.diverging
    count = int(flags.sum())
    if not count or not selection.scalars:
        return "<p>None.</p>" if selection.draws else note(_NONE)
    text = f"<p>{count} of {flags.size} draws ended in a divergence.</p>"
    if studio is None:
        return text + _NO_PICTURES
    bad = _evenly(np.flatnonzero(flags), MARKED)
    usual = _evenly(np.flatnonzero(~flags), USUAL)
    if not len(usual):
        return text
    places = np.unravel_index(np.concatenate([bad, usual]), flags.shape)
    values = list(selection.points(*places))
    distances = np.array([_distance(v[: len(bad)], v[len(bad) :]) for v in values])
    names = [name for name, _, _ in selection.scalars]
    chosen = [int(i) for i in np.argsort(-distances, kind="stable")[:PAIRS] if distances[i] >= 0]
    density = selection.record("lp")
    if len(chosen) == 1 and density is not None:
        values.append(density[places])
        names.append("lp")
        chosen.append(len(values) - 1)
    pairs = [(a, b) for k, a in enumerate(chosen) for b in chosen[k + 1 :]]
    boxes = [_pair(studio, names, values, one, two, len(bad)) for one, two in pairs]
    key = chain_key([("bad", "divergences"), ("muted", "other draws")])
    about = note("The quantities in which they differ most from the other draws.")
    return "\n".join([text, about, key, f'<div class="panels">{"".join(boxes)}</div>'])


def _pair(studio: Studio, named: Any, values: Any, one: int, two: int, bad: int) -> str:
    names = (named[one], named[two])
    marked = [values[i][:bad] for i in (one, two)]
    other_draws = [values[i][bad:] for i in (one, two)]
    label = f"{names[0]} and {names[1]}"
    picture = studio.figure(
        label, lambda axes: pictures.pair(axes, names, other_draws, marked), (3.9, 2.9), True
    )
    return figure_box(picture, label)


def _evenly(places: np.ndarray, most: int) -> np.ndarray:
    """At most `most` of the numbers, evenly spaced."""
    if len(places) <= most:
        return places
    return places[np.linspace(0, len(places) - 1, most).astype(int)]


def _distance(one: np.ndarray, other: np.ndarray) -> float:
    """The largest distance of two empirical distributions.

    It is -1 if the values are constant or not finite.
    """
    values = np.sort(np.concatenate([one, other]))
    if not np.isfinite(values).all() or values[0] == values[-1]:
        return -1.0
    steps = [np.searchsorted(np.sort(x), values, side="right") / len(x) for x in (one, other)]
    return float(np.abs(steps[0] - steps[1]).max())
