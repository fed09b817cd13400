"""What a report tells in words: what was run, what is wrong with it, and which model it was of."""

import json
from base64 import b64encode
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...graph.errors import KinetographError
from ...models.saving import model_from_bytes
from ..drawn import SVG
from ..lost import lost_chains
from ..store.store import HIDDEN, Store
from .looked import Looked
from .page import cells, note, rows

if TYPE_CHECKING:
    from ...models.model import Model

__all__ = ["averages", "facts", "findings", "headline", "lost", "model_of", "model_shown"]

_TITLES = {
    "not_finite": "Draws without a finite log density",
    "nan": "Draws that are no numbers",
    "lost_chains": "Lost chains",
    "few_draws": "Too few draws to judge the run",
    "unknown": "Diagnostics that are not known",
    "rhat": "The chains do not agree",
    "divergences": "Divergences",
    "unsolved": "Equations without a solution",
    "acceptance": "An acceptance rate that is no probability",
    "energy": "Energies that hardly change",
    "ess": "Too few effective draws",
    "tree_depth": "Trajectories that were cut short",
    "doubt": "An approximation that is not to be believed",
}
_NOTHING = "[]"  # of observables and averages, if there are none
_TOLD = (  # attributes that have a row of their own, or are of no use to a reader
    *("inference_library", "inference_library_version", "sampler", "sampler_settings", "seed"),
    *("sampler_tune", "unknowns", "draws", "keep", "warmup", "thin", "gradients", "walkers"),
    *("trace_time", "compile_time", "sampling_time", "interrupted", "jax_version", "created_at"),
    *("chain_method", "solvers", "approximation"),
)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def headline(looked: Looked) -> str:
    """`NUTS: 4 chains of 1000 draws`."""
    attrs = looked.whole.attrs
    by = attrs.get("sampler", attrs.get("approximation", "Results"))
    kind = "ensemble" if looked.walkers > 1 else "chain"
    each = f" of {_count(looked.walkers, 'walker')}" if looked.walkers > 1 else ""
    return f"{by}: {_count(looked.chains, kind)}{each}, {_count(looked.draws, 'draw')} each"


def facts(looked: Looked, model: "Model | None") -> str:
    """What was run."""
    return rows(_facts(looked, model))


def _facts(looked: Looked, model: "Model | None") -> Iterator[tuple[str, str]]:
    attrs = looked.whole.attrs
    unknowns = {str(n): int(s) for n, s in json.loads(attrs.get("unknowns", "{}")).items()}
    if unknowns:
        shown = ", ".join(n if s == 1 else f"{n} ({s})" for n, s in list(unknowns.items())[:40])
        more = f" and {len(unknowns) - 40} more" if len(unknowns) > 40 else ""
        yield "unknowns", f"{_count(sum(unknowns.values()), 'number')}: {shown}{more}"
    if model is not None:
        names = [model.name(node) for node in model.observed]
        sizes = sum(node.size for node in model.observed)
        yield "observed", f"{_count(sizes, 'number')}: {', '.join(names)}" if names else "nothing"
    if "sampler" in attrs:
        yield "sampler", str(attrs["sampler"])
    if "approximation" in attrs:
        yield "approximation", str(attrs["approximation"])
    settings = json.loads(attrs.get("sampler_settings", "{}"))
    if settings:
        yield "settings", ", ".join(f"{name} = {_plain(v)}" for name, v in settings.items())
    tuned = json.loads(attrs.get("sampler_tune", "[]"))
    if tuned:
        yield "tuned in warm-up", ", ".join(map(str, tuned))
    yield "draws", _draws(looked)
    if "warmup" in attrs:
        lengths = np.atleast_1d(attrs["warmup"])
        each = ", ".join(map(str, lengths[:16])) + (", ..." if len(lengths) > 16 else "")
        yield "warm-up", f"{each} transitions{' by chain' if len(lengths) > 1 else ''}"
    if "seed" in attrs:
        yield "seed", str(attrs["seed"])
    times = [
        f"{text} {float(attrs[name]):.3g} s"
        for name, text in (("trace_time", "traced in"), ("compile_time", "compiled in"))
        if name in attrs
    ]
    if "sampling_time" in attrs:
        times.append(f"drawn in {float(attrs['sampling_time']):.3g} s")
    if times:
        how = f" ({attrs['chain_method']})" if "chain_method" in attrs else ""
        yield "time", ", ".join(times) + how
    if "gradients" in attrs:
        yield "gradients", _count(int(attrs["gradients"]), "evaluation")
    if looked.diverging.any():
        yield "divergences", _count(int(looked.diverging.sum()), "draw")
    for name, value in attrs.items():
        if name not in (*_TOLD, SVG) and np.ndim(value) == 0 and value != _NOTHING:
            yield str(name).replace("_", " "), _plain(value)
    library = attrs.get("inference_library")
    if library:
        jax = f", JAX {attrs['jax_version']}" if "jax_version" in attrs else ""
        yield "versions", f"{library} {attrs.get('inference_library_version', '')}{jax}"
    if "created_at" in attrs:
        yield "made", str(attrs["created_at"])[:19].replace("T", " ") + " UTC"


def _plain(value: Any) -> str:
    if isinstance(value, float | np.floating):
        return f"{float(value):.6g}"
    return value if isinstance(value, str) else json.dumps(value, default=str, ensure_ascii=False)


def _draws(looked: Looked) -> str:
    attrs = looked.whole.attrs
    there, asked = looked.draws, int(attrs.get("draws", -1))
    text = f"{there} of each of {looked.chains * looked.walkers} chains"
    if looked.walkers > 1:
        text = f"{there} of each of {looked.walkers} walkers in {looked.chains} ensembles"
    if int(attrs.get("thin", 1)) > 1:
        text += f", of every {attrs['thin']}th transition"
    if not attrs.get("keep", 1):
        text = f"averages alone of {asked} draws of each of {looked.chains} chains"
    elif "sampler" in attrs and attrs.get("interrupted", 1) and there != asked:
        asked_for = f" {asked} were asked for:" if asked >= 0 else ""
        text += f";{asked_for} the run was stopped before its end"
    if "unfinished_posterior" in looked.whole.children:
        text += ", and what some chains had drawn beyond that is left out here"
    return text


def findings(looked: Looked) -> str:
    """What to do."""
    found = [
        f'<div class="finding" data-kind="{escape(f.kind)}"><h3>'
        f"{escape(_TITLES.get(f.kind, f.kind.replace('_', ' ')))}</h3>"
        f"<p>{escape(f.message[:1].upper() + f.message[1:])}</p></div>"
        for f in looked.findings
    ]
    if not found and not looked.judged:
        return note("Too few draws to say whether anything is wrong.")
    if not found:
        found = [
            '<div class="finding well"><p>Nothing to complain of: no check finds anything '
            "wrong.</p></div>"
        ]
    if looked.chains == 1 and "sampler" in looked.whole.attrs:
        found.append(note("One chain cannot tell whether there is more than where it has been."))
    if looked.every > 1:
        found.append(note(f"Found in every {looked.every}th draw; counts are of these."))
    return "\n".join(found)


def lost(looked: Looked) -> str:
    """The chains that are lost, and why."""
    if looked.walkers > 1:
        return note("Not looked for: walkers of an ensemble move together.")
    if "sample_stats" not in looked.tree.children or looked.chains < 2 or looked.draws < 20:
        return note("Not looked for: that takes two chains of 20 draws.")
    found = lost_chains(looked.tree)
    if not found:
        return "<p>None: every chain is where the others are.</p>"
    return rows((f"chain {looked.numbers[chain]}", what) for chain, what in found.items())


def averages(looked: Looked) -> str:
    """A table of running averages, of all chains together; none where there are none."""
    group = looked.whole.children.get("averages")
    if group is None or "mean" not in group.children:
        return ""
    from ..summary import row_names

    counts = np.asarray(group["count"].values, float)
    lines = []
    for name, variable in group["mean"].dataset.data_vars.items():
        means = variable.values.reshape((len(counts), -1))
        spread = group["variance"][name].values.reshape((len(counts), -1))
        labelled = variable.expand_dims("draw", 1)
        with np.errstate(all="ignore"):
            total = counts @ np.where(counts[:, None] > 0, means, 0.0) / counts.sum()
            sd = np.sqrt(counts @ np.where(counts[:, None] > 1, spread, 0.0) / counts.sum())
            between = means.std(0, ddof=1) if len(counts) > 1 else np.full(len(total), np.nan)
        for row, *numbers in zip(row_names(str(name), labelled), total, sd, between, strict=True):
            lines.append([row, *(f"{n:.5g}" for n in numbers)])
    text = f"Running averages of {int(counts.sum())} draws of all chains; their draws are not kept."
    return note(text) + cells(["", "mean", "sd within chains", "sd of the chains' means"], lines)


def model_of(tree: Any) -> tuple["Model | None", str]:
    """The model that the store of results holds, or why there is none."""
    source = tree.encoding.get("source")
    path = Path(source) if isinstance(source, str) else None
    if path is None or not (path / HIDDEN).is_dir():
        return None, "These results do not hold their model: kg.report(results, model) shows it."
    try:
        data = Store.open(path).model()
        if data is not None:
            return model_from_bytes(data, (), "report: the model of the store"), ""
        reason = "the store does not hold it"
    except KinetographError as error:
        reason = str(error)
    return None, f"The model cannot be shown ({reason}): kg.report(results, model) shows it."


def model_shown(tree: Any, model: "Model | None", reason: str) -> str:
    """The graph of the model, or the one that results hold.

    As an image, whose names do not meet those of the page.
    """
    if model is not None:
        drawing = model.plot()
        head = f"<p>{escape(repr(model).strip('<>'))}</p>\n"
        return head + _image(drawing.svg(), drawing.text())
    held = tree.attrs.get(SVG)
    return note(reason) if not isinstance(held, str) else _image(held, "graph of the model")


def _image(svg: str, text: str) -> str:
    image = b64encode(svg.encode()).decode()
    return (
        f'<div class="wide drawing"><img alt="{escape(text)}" '
        f'src="data:image/svg+xml;base64,{image}"></div>'
    )
