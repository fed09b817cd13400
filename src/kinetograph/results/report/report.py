"""`kg.report`: a run on one self-contained page of HTML."""

import os
from dataclasses import dataclass, field
from pathlib import Path

from ...graph.public import public
from ...graph.source import place_text
from ...graph.value_texts import check_path
from ...models.model import Model, check_model
from ...models.result_types import Results
from ...programs.sealed_files import write_whole
from ..check import check_tree
from ..modes import several_modes
from . import plots, texts
from .figures import open_studio
from .page import cells, framed, note, page
from .selection import Selection, select_draws
from .sensitivity import sensitivity

__all__ = ["Report", "report"]

ROWS = 500  # the largest number of rows of the summary


@public
@dataclass(frozen=True, repr=False)
class Report:
    """A report: `html` is the page, and `save` writes it."""

    title: str
    findings: int
    html: str = field(repr=False)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, completely or not at all.

        Raises
        ------
        OSError
            If the file cannot be written; an existing file stays as it was.
        """
        write_whole(_target(path), self.html.encode())

    def __repr__(self) -> str:
        findings = f"{self.findings} finding{'' if self.findings == 1 else 's'}"
        size = len(self.html) / 1000
        return f"<report of {self.title}; {findings}; {size:.0f} kB of HTML>"

    def _repr_html_(self) -> str:
        return framed(self.html)


@public
def report(
    results: "Results",
    model: Model | None = None,
    path: str | os.PathLike[str] | None = None,
) -> Report:
    """A run on one page of HTML: facts, findings and pictures.

    The findings of `kg.diagnose` come first, worst first. Then follow lost chains, the graph of the
    model, the table of `kg.summary`, the modes, the sensitivity to prior and data, a trace, a
    density and ranks by chain for each scalar (at most the 20 worst, by R-hat and effective sample
    size), the energies, the places of divergences, and the growth of the effective sample sizes.
    The page is self-contained and runs no program.

    Of long runs every n-th draw is used, at most 20000 draws of each chain, so that a store may be
    larger than memory. The page says so.

    Parameters
    ----------
    results
        Results of `kg.mcmc`, or results opened from a store or a file. Stopped runs, runs with
        averages only, and draws of approximations have reports, too.
    model
        The model, whose graph is shown; by default the model in the store of the results.
    path
        A file to which the page is written, completely or not at all.

    Returns
    -------
    Report
        Its `html` is the page. It has `save(path)`, and notebooks show it.

    Raises
    ------
    TypeError
        If the results have no posterior, or `model` is not a model.
    OSError
        If `path` cannot be written.

    Notes
    -----
    Pictures need matplotlib (`pip install matplotlib`). Without it the page has everything else.

    The sensitivity by power scaling needs arviz-stats, and results with the log densities of priors
    and data: `kg.report(kg.log_prior(model, kg.log_likelihood(model, results)), model)`. Source:
    N. Kallioinen, T. Paananen, P.-C. Bürkner, A. Vehtari, Detecting and diagnosing prior and
    likelihood sensitivity with power-scaling, Statistics and Computing 34 (2024).

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
    >>> "No problem found" in page.html
    True
    """
    check_tree(results, "report")
    if model is not None:
        check_model(model, "report", "second")
    if path is not None:
        _target(path)  # a path that cannot be written is an error before the work
    selection = select_draws(results)
    result = Report(texts.headline(selection), len(selection.findings), _page(selection, model))
    if path is not None:
        result.save(path)
    return result


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


def _page(selection: Selection, model: Model | None) -> str:
    title, reason = texts.headline(selection), ""
    if model is None:
        model, reason = texts.model_of(selection.whole)
    with open_studio() as studio:
        sections = [
            ("findings", "What to do", texts.findings(selection)),
            ("run", "What was run", texts.facts(selection, model)),
            ("lost", "Lost chains", texts.lost_chains_text(selection)),
            ("model", "Model", texts.model_shown(selection.whole, model, reason)),
            ("summary", "Summary", _summary(selection)),
            ("modes", "Modes", _modes(selection)),
            ("sensitivity", "Sensitivity to prior and data", sensitivity(selection)),
            ("quantities", "Draws", plots.quantities(selection, studio)),
            ("energy", "Energy", plots.energies(selection, studio)),
            ("divergences", "Divergences", plots.diverged(selection, studio)),
            ("running", "Effective sample size", plots.running(selection, studio)),
        ]
    return page(title, "", sections)


def _modes(selection: Selection) -> str:
    """The modes of the draws."""
    several = None
    if selection.draws and selection.walkers == 1:
        several = several_modes(selection.posterior)
    if several is None:
        return note("The draws are not divided into several modes.")
    head, *lines = several.cells()
    text = "The weights are right if chains move between the modes, or the draws are of kg.temper."
    return cells(head, lines) + note(text)


def _summary(selection: Selection) -> str:
    parts = [texts.averages(selection)]
    if not selection.draws:
        return "\n".join(filter(None, parts)) or note("No draws.")
    places = selection.worst(ROWS)
    if len(places) < len(selection.scalars):
        parts.append(note(f"The worst {ROWS} of {len(selection.scalars)} quantities."))
    if selection.every > 1:
        parts.append(
            note(
                f"From every {selection.every}th draw; the effective sample sizes of all draws are "
                "the same or larger."
            )
        )
    head, *lines = selection.only(places)._cells()
    parts.append(cells(head, lines))
    return "\n".join(filter(None, parts))
