"""`kg.report`: a run on one page of HTML, without anything from outside of it."""

import os
from dataclasses import dataclass, field
from pathlib import Path

from ...graph.source import place_text
from ...graph.text import check_path
from ...models.model import Model
from ...models.typing import Results
from ..arguments import check_model
from ..results import check_tree
from ..sealed import write_whole
from . import plots, told
from .figures import open_studio
from .looked import Looked, looked_at
from .page import cells, framed, note, page

__all__ = ["Report", "report"]

ROWS = 500  # of the summary


@dataclass(frozen=True, repr=False)
class Report:
    """A report: `html` is the page; notebooks show it, and `save` writes it."""

    title: str
    findings: int
    html: str = field(repr=False)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, whole or not at all.

        Raises
        ------
        OSError
            If it cannot be written; a file that was there is as it was.
        """
        write_whole(_target(path), self.html.encode())

    def __repr__(self) -> str:
        found = f"{self.findings} finding{'' if self.findings == 1 else 's'}"
        size = len(self.html) / 1000
        return f"<report of {self.title}; {found}; {size:.0f} kB of HTML>"

    def _repr_html_(self) -> str:
        return framed(self.html)


def report(
    results: "Results",
    model: Model | None = None,
    path: str | os.PathLike[str] | None = None,
) -> Report:
    """A run on one page of HTML: what was run, what to do about it, and pictures of its draws.

    What `kg.diagnose` finds comes first, worst first; then lost chains, the graph of the model, the
    table of `kg.summary`, for each scalar (of many the worst 20, by R-hat and effective sample
    size) a trace, a density and ranks by chain, the energies, where divergences are, and how the
    effective sample sizes grew. The page needs nothing from outside of it and runs no program.

    Of long runs every n-th draw is looked at, so that a store may be larger than memory: at most
    20000 of each chain, and the page says so.

    Parameters
    ----------
    results
        What `kg.mcmc` returned, or results opened from a store or a file. Runs that were stopped,
        runs of averages alone and draws of approximations have reports, too.
    model
        The model, whose graph is shown; by default that in the store of the results.
    path
        A file to write the page to, whole or not at all.

    Returns
    -------
    Report
        The page is its `html`; it has `save(path)`, and notebooks show it.

    Raises
    ------
    TypeError
        If the results have no posterior, or `model` is none.
    OSError
        If `path` cannot be written.

    Notes
    -----
    Pictures need matplotlib, which `pip install matplotlib` brings; without it the page
    has all but those.

    Ranks: A. Vehtari, A. Gelman, D. Simpson, B. Carpenter, P.-C. Bürkner, Bayesian Analysis 16
    (2021) 667-718. Energies: M. Betancourt, arXiv:1604.00695.

    Examples
    --------
    >>> import kinetograph as kg
    >>> mu = kg.normal(0, 1)
    >>> y = kg.data([0.5, 1.5])
    >>> likelihood = kg.observe(y, kg.normal(mu, 1))
    >>> model = kg.model(mu)
    >>> page = kg.report(kg.mcmc(model, seed=1, progress=False), model)
    >>> page.title
    'NUTS: 4 chains, 1000 draws each'
    >>> "Nothing to complain of" in page.html
    True
    """
    check_tree(results, "report")
    if model is not None:
        check_model(model, "report", "second")
    if path is not None:
        _target(path)  # a name that cannot be written is told before the work
    looked = looked_at(results)
    made = Report(told.headline(looked), len(looked.findings), _page(looked, model))
    if path is not None:
        made.save(path)
    return made


def _target(path: str | os.PathLike[str]) -> Path:
    check_path("report", path)
    target = Path(path)
    if target.is_dir():
        raise IsADirectoryError(f"report: {target} is a folder{place_text()}; give a file in it")
    if not target.resolve().parent.is_dir():
        raise FileNotFoundError(
            f"report: there is no folder {target.resolve().parent} to write {target.name} "
            f"into{place_text()}"
        )
    return target.resolve()


def _page(looked: Looked, model: Model | None) -> str:
    title, reason = told.headline(looked), ""
    if model is None:
        model, reason = told.model_of(looked.whole)
    with open_studio() as studio:
        sections = [
            ("findings", "What to do", told.findings(looked)),
            ("run", "What was run", told.facts(looked, model)),
            ("lost", "Lost chains", told.lost(looked)),
            ("model", "Model", told.model_shown(looked.whole, model, reason)),
            ("summary", "Summary", _summary(looked)),
            ("quantities", "Draws", plots.quantities(looked, studio)),
            ("energy", "Energy", plots.energies(looked, studio)),
            ("divergences", "Divergences", plots.diverged(looked, studio)),
            ("running", "Effective sample size", plots.running(looked, studio)),
        ]
    return page(title, "", sections)


def _summary(looked: Looked) -> str:
    parts = [told.averages(looked)]
    if not looked.draws:
        return "\n".join(filter(None, parts)) or note("There are no draws.")
    places = looked.worst(ROWS)
    if len(places) < len(looked.scalars):
        parts.append(note(f"The worst {ROWS} of {len(looked.scalars)} quantities."))
    if looked.every > 1:
        parts.append(
            note(
                f"Of every {looked.every}th draw; effective sample sizes of all are the same or "
                "larger."
            )
        )
    head, *lines = looked.only(places)._cells()
    parts.append(cells(head, lines))
    return "\n".join(filter(None, parts))
