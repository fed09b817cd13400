"""The texts of a report: the run's settings, findings, and the model."""

import json
from base64 import b64encode
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ...graph.errors import KinetographError
from ...models.saving import model_from_bytes
from ..chosen_forms import forms_text
from ..lost_chains import lost_chains
from ..model_picture import SVG
from ..stored_model import HIDDEN, read_manifest, read_model
from .page import cells, note, rows
from .selection import Selection

if TYPE_CHECKING:
    from ...models.model import Model

__all__ = [
    "averages",
    "facts",
    "findings",
    "headline",
    "lost_chains_text",
    "model_of",
    "model_shown",
]

_TITLES = {
    "not_finite": "Draws without a finite log density",
    "nan": "Draws that are not numbers",
    "still": "No chain moved",
    "lost_chains": "Lost chains",
    "few_draws": "Too few draws to judge the run",
    "unknown": "Diagnostics that are not known",
    "rhat": "The chains do not agree",
    "divergences": "Divergences",
    "unsolved": "Equations without a solution",
    "acceptance": "An acceptance rate that is not a probability",
    "energy": "Energies that hardly change",
    "ess": "Too few effective draws",
    "ess_tail": "Too few effective draws of the tails",
    "tree_depth": "Trajectories that were cut short",
    "doubt": "An approximation that may be wrong",
}
_NOTHING = "[]"  # the attribute of a run without observables or averages
_NOT_LISTED = (  # attributes that have a row already, or do not interest a reader
    *("inference_library", "inference_library_version", "sampler", "sampler_settings", "seed"),
    *("sampler_tune", "unknowns", "draws", "keep", "warmup", "thin", "gradients", "walkers"),
    *("trace_time", "compile_time", "sampling_time", "interrupted", "jax_version", "created_at"),
    *("chain_method", "solvers", "approximation", "hierarchies", "distributions"),
)


def _count(number: int, title: str) -> str:
    return f"{number} {title}{'' if number == 1 else 's'}"


def headline(selection: Selection) -> str:
    """A title such as `NUTS: 4 chains, 1000 draws each`."""
    attrs = selection.whole.attrs
    by = attrs.get("sampler", attrs.get("approximation", "Results"))
    kind = "ensemble" if selection.walkers > 1 else "chain"
    each = f" of {_count(selection.walkers, 'walker')}" if selection.walkers > 1 else ""
    return f"{by}: {_count(selection.chains, kind)}{each}, {_count(selection.draws, 'draw')} each"


def facts(selection: Selection, model: "Model | None") -> str:
    """The facts of the run, as a table."""
    return rows(_facts(selection, model))


def _facts(selection: Selection, model: "Model | None") -> Iterator[tuple[str, str]]:
    attrs = selection.whole.attrs
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
    if forms := forms_text(selection.whole):
        yield "forms chosen", forms
    yield "draws", _draws(selection)
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
    if selection.diverging.any():
        yield "divergences", _count(int(selection.diverging.sum()), "draw")
    for name, value in attrs.items():
        if name not in (*_NOT_LISTED, SVG) and np.ndim(value) == 0 and value != _NOTHING:
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


def _draws(selection: Selection) -> str:
    attrs = selection.whole.attrs
    draws, requested = selection.draws, int(attrs.get("draws", -1))
    text = f"{draws} of each of {selection.chains * selection.walkers} chains"
    if selection.walkers > 1:
        text = f"{draws} of each of {selection.walkers} walkers in {selection.chains} ensembles"
    if int(attrs.get("thin", 1)) > 1:
        text += f", every {attrs['thin']}th transition"
    if not attrs.get("keep", 1):
        text = f"only averages of {requested} draws of each of {selection.chains} chains"
    elif "sampler" in attrs and attrs.get("interrupted", 1) and draws != requested:
        request = f" {requested} were requested:" if requested >= 0 else ""
        text += f";{request} the run was stopped before its end"
    if "unfinished_posterior" in selection.whole.children:
        text += "; further draws of some chains are left out here"
    return text


def findings(selection: Selection) -> str:
    """The findings, each with its remedy."""
    boxes = [
        f'<div class="finding" data-kind="{escape(f.kind)}"><h3>'
        f"{escape(_TITLES.get(f.kind, f.kind.replace('_', ' ')))}</h3>"
        f"<p>{escape(f.message[:1].upper() + f.message[1:])}</p></div>"
        for f in selection.findings
    ]
    if not boxes and not selection.has_enough_draws:
        return note("Too few draws to judge the run.")
    if not boxes:
        boxes = ['<div class="finding well"><p>No problem found: all checks pass.</p></div>']
    if selection.chains == 1 and "sampler" in selection.whole.attrs:
        boxes.append(note("One chain cannot show whether there are other modes."))
    if selection.every > 1:
        boxes.append(note(f"Found in every {selection.every}th draw; counts refer to these draws."))
    return "\n".join(boxes)


def lost_chains_text(selection: Selection) -> str:
    """The lost chains, and why they are lost."""
    if selection.walkers > 1:
        return note("Not checked: walkers of an ensemble move together.")
    if (
        "sample_stats" not in selection.tree.children
        or selection.chains < 2
        or selection.draws < 20
    ):
        return note("Not checked: at least two chains of 20 draws are needed.")
    lost_by_number = lost_chains(selection.tree)
    if not lost_by_number:
        return "<p>None: all chains are in the same place.</p>"
    return rows(
        (f"chain {selection.numbers[chain]}", text) for chain, text in lost_by_number.items()
    )


def averages(selection: Selection) -> str:
    """A table of running averages over all chains; empty without averages."""
    group = selection.whole.children.get("averages")
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
    """The model in the store of the results, or why none."""
    source = tree.encoding.get("source")
    path = Path(source) if isinstance(source, str) else None
    if path is None or not (path / HIDDEN).is_dir():
        return None, "These results do not hold their model: kg.report(results, model) shows it."
    try:
        read_manifest(path)
        data, _ = read_model(path)
        if data is not None:
            return model_from_bytes(data, (), "report: the model of the store"), ""
        reason = "the store does not hold it"
    except KinetographError as error:
        reason = str(error)
    return None, f"The model cannot be shown ({reason}): kg.report(results, model) shows it."


def model_shown(tree: Any, model: "Model | None", reason: str) -> str:
    """The graph of the model, or the picture in the results.

    It is embedded as an image, so that names in it do not clash with names of the page.
    """
    if model is not None:
        drawing = model.plot()
        head = f"<p>{escape(repr(model).strip('<>'))}</p>\n"
        return head + _image(drawing.svg(), drawing.text())
    picture = tree.attrs.get(SVG)
    return note(reason) if not isinstance(picture, str) else _image(picture, "graph of the model")


def _image(svg: str, text: str) -> str:
    image = b64encode(svg.encode()).decode()
    return (
        f'<div class="wide drawing"><img alt="{escape(text)}" '
        f'src="data:image/svg+xml;base64,{image}"></div>'
    )
