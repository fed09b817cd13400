"""The sections of a report that are pictures; without matplotlib they say how to get it."""

from typing import Any

import numpy as np

from .. import diagnostics
from ..advice import ESS_PER_CHAIN
from . import pictures
from .figures import INSTALL, SHOWN, Studio
from .looked import Looked
from .page import cells, chain_key, code, escape, figure_box, note

__all__ = ["diverged", "energies", "quantities", "running"]

SCALARS = 20  # of which there are pictures
MARKED = 500  # divergences that are marked
USUAL = 2000  # other draws beside them
PAIRS = 3
_NONE = "There are no draws to look at."
_NO_PICTURES = f"<p>Pictures need matplotlib: {code(INSTALL)}</p>"


def quantities(looked: Looked, studio: Studio | None) -> str:
    """Of each scalar, or of the worst, its trace, density and ranks by chain."""
    if not looked.draws or not looked.scalars:
        return note(_NONE)
    if studio is None:
        return _NO_PICTURES
    places = looked.worst(SCALARS)
    parts = []
    if len(places) < len(looked.scalars):
        parts.append(
            note(
                f"The worst {len(places)} of {len(looked.scalars)}, by R-hat and effective sample "
                "size; the table above has the others."
            )
        )
    if looked.every > 1:
        parts.append(note(f"Of every {looked.every}th draw."))
    kind = "chain" if looked.walkers == 1 else "ensemble"
    entries = [(f"c{i}", f"{kind} {n}") for i, n in enumerate(looked.numbers[:SHOWN])]
    if looked.chains > SHOWN:
        entries.append(("others", f"the {looked.chains - SHOWN} other {kind}s"))
    if looked.chains > 1:
        entries.append(("dashed", f"ranks if all {kind}s were alike"))
    if looked.diverging.any():
        entries.append(("bad", "divergences"))
    parts.append(chain_key(entries))
    parts += [_panels(looked, studio, place) for place in places]
    return "\n".join(parts)


def _panels(looked: Looked, studio: Studio, place: int) -> str:
    scalar = looked.scalars[place]
    name, target, _ = scalar
    each = looked.values(scalar)
    chains = diagnostics.together(each, looked.walkers)
    whole = looked.posterior[target].dtype.kind in "iub"
    table = looked.summary
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
    bad = _some(np.flatnonzero(looked.diverging.any(0)), MARKED)
    of = " of the logarithm" if pictures.logarithmic(chains) else ""
    strange = int((~np.isfinite(each)).sum())
    if strange:
        facts.append(f"{strange} of {each.size} draws are no finite numbers")
    boxes = [
        figure_box(
            studio.figure(
                f"trace of {name}",
                lambda axes: pictures.trace(axes, each, looked.every, looked.walkers, bad),
            ),
            "trace: value by draw" + (", divergences below" if len(bad) else ""),
        ),
        figure_box(
            studio.figure(f"density of {name}", lambda axes: pictures.density(axes, chains, whole)),
            "how often there is each value" if whole else f"density{of}",
        ),
    ]
    if looked.chains > 1 and np.isfinite(chains).all() and looked.badness[place] >= 0:
        boxes.append(
            figure_box(
                studio.figure(f"ranks of {name}", lambda axes: pictures.ranks(axes, chains)),
                "ranks among the draws of all, from least to largest",
            )
        )
    head = (
        f"<h3>{escape(name)}</h3>\n{note(', '.join(facts))}"
        if facts
        else f"<h3>{escape(name)}</h3>"
    )
    return f'<div class="quantity">{head}\n<div class="panels">{"".join(boxes)}</div></div>'


def running(looked: Looked, studio: Studio | None) -> str:
    """How the effective sample sizes of the worst scalars grew with the draws."""
    table = looked.summary
    if table is None or looked.tree["posterior"].sizes["draw"] < 40:
        return note("Of fewer than 40 draws there is nothing to show.")
    places = [i for i in looked.worst(len(looked.scalars)) if np.isfinite(table["ess_bulk"][i])]
    moving = [i for i in places if looked.badness[i] >= 0]
    moving.sort(key=lambda i: -looked.badness[i])
    moving = moving[:SHOWN]
    if not moving:
        return note("No quantity moves, or none is finite.")
    if studio is None:
        return _NO_PICTURES
    found = [pictures.sizes_on_the_way(looked.values(looked.scalars[i])) for i in moving]
    found = [(counts * looked.every, sizes) for counts, sizes in found]
    enough = ESS_PER_CHAIN * looked.chains
    key = [(f"c{k}", looked.scalars[i][0]) for k, i in enumerate(moving)]
    key.append(("dashed", f"enough: {enough}"))
    about = "It grows in proportion to the draws where the chains mix"
    few = f"; the worst {len(moving)} quantities" if len(moving) < len(looked.scalars) else ""
    picture = studio.figure(
        "effective sample size by draws",
        lambda axes: pictures.running(axes, found, enough),
        (6.0, 2.8),
    )
    caption = "bulk effective sample size by the draws of each chain"
    return "\n".join([note(f"{about}{few}."), chain_key(key), figure_box(picture, caption)])


def energies(looked: Looked, studio: Studio | None) -> str:
    """Marginal and transition energy, and the fraction of missing information by chain."""
    values = looked.energies
    if values is None:
        return note("No energy was recorded, or there are too few draws, or some without one.")
    parts = []
    if int(looked.whole.attrs.get("thin", 1)) > 1:
        parts.append(note("Of draws that are thinned: energies of transitions change less."))
    head = ["chain", *map(str, looked.numbers)]
    parts.append(cells(head, [["E-BFMI", *(f"{f:.3g}" for f in looked.fractions)]]))
    if studio is None:
        return "\n".join([*parts, _NO_PICTURES])
    parts.append(chain_key([("others", "marginal energy"), ("c0", "change from draw to draw")]))
    picture = studio.figure("energies", lambda axes: pictures.energy(axes, values), (6.0, 2.4))
    parts.append(figure_box(picture, "as wide as each other where momenta bring a chain anywhere"))
    return "\n".join(parts)


def diverged(looked: Looked, studio: Studio | None) -> str:
    """Where divergences are: pairs of the scalars that they set apart most."""
    flags = looked.diverging
    count = int(flags.sum())
    if not count or not looked.scalars:
        return "<p>None.</p>" if looked.draws else note(_NONE)
    text = f"<p>{count} of {flags.size} draws ended in a divergence.</p>"
    if studio is None:
        return text + _NO_PICTURES
    bad = _some(np.flatnonzero(flags), MARKED)
    usual = _some(np.flatnonzero(~flags), USUAL)
    if not len(usual):
        return text
    places = np.unravel_index(np.concatenate([bad, usual]), flags.shape)
    values = list(looked.points(*places))
    apart = np.array([_apart(v[: len(bad)], v[len(bad) :]) for v in values])
    named = [name for name, _, _ in looked.scalars]
    first = [int(i) for i in np.argsort(-apart, kind="stable")[:PAIRS] if apart[i] >= 0]
    density = looked.record("lp")
    if len(first) == 1 and density is not None:
        values.append(density[places])
        named.append("lp")
        first.append(len(values) - 1)
    both = [(a, b) for k, a in enumerate(first) for b in first[k + 1 :]]
    boxes = [_pair(studio, named, values, one, two, len(bad)) for one, two in both]
    key = chain_key([("bad", "divergences"), ("others", "other draws")])
    about = note("The quantities that they set apart most from the other draws.")
    return "\n".join([text, about, key, f'<div class="panels">{"".join(boxes)}</div>'])


def _pair(studio: Studio, named: Any, values: Any, one: int, two: int, bad: int) -> str:
    names = (named[one], named[two])
    marked = [values[i][:bad] for i in (one, two)]
    others = [values[i][bad:] for i in (one, two)]
    label = f"{names[0]} and {names[1]}"
    picture = studio.figure(
        label, lambda axes: pictures.pair(axes, names, others, marked), (3.9, 2.9), True
    )
    return figure_box(picture, label)


def _some(places: np.ndarray, most: int) -> np.ndarray:
    """At most so many, evenly."""
    if len(places) <= most:
        return places
    return places[np.linspace(0, len(places) - 1, most).astype(int)]


def _apart(one: np.ndarray, other: np.ndarray) -> float:
    """The largest distance of two empirical distributions, -1 of what does not move."""
    every = np.sort(np.concatenate([one, other]))
    if not np.isfinite(every).all() or every[0] == every[-1]:
        return -1.0
    steps = [np.searchsorted(np.sort(x), every, side="right") / len(x) for x in (one, other)]
    return float(np.abs(steps[0] - steps[1]).max())
