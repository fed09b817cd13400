"""`kinetograph sample`: draw from the posterior of a model in a Python file."""

from pathlib import Path
from typing import Any

import click

from .errors import InputError, readable_warnings
from .files import check_target
from .models import load_model, model_argument, traceback_option
from .outcome import carry_out, format_option, out_option
from .settings import ENDLESS, Chains, Draws, SamplerName, make_sampler, make_until

__all__ = ["check_every", "sample", "threads_option", "until_options"]

threads_option = click.option(
    "--threads", type=click.IntRange(1), help="Chains that run at once.  [default: all processors]"
)
check_every = click.option(
    "--checkpoint-every",
    type=click.FloatRange(0),
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    help="How often what it takes to go on is written to the store.",
)


def until_options(command: Any) -> Any:
    """The options that say when there are enough draws."""
    for name, default, what in (
        ("--until-rhat", "1.01", "largest R-hat"),
        ("--until-ess", "400", "least effective sample size"),
    ):
        text = f"Stop when the {what} is that.  [default, if the other is given: {default}]"
        command = click.option(name, type=float, help=text)(command)
    return command


@click.command()
@model_argument
@click.option(
    "--draws",
    type=Draws(1),
    default=1000,
    show_default=True,
    metavar="N|none",
    help="Per chain; none: until it is stopped.",
)
@click.option(
    "--warmup",
    type=click.IntRange(0),
    help="Transitions per chain before the draws.  [default: as many as tuning takes]",
)
@click.option(
    "--chains",
    type=Chains(1),
    default=4,
    show_default=True,
    metavar="N|A:B",
    help="How many, or their numbers, as 4:8, which adds some to a store.",
)
@click.option(
    "--thin", type=click.IntRange(1), default=1, show_default=True, help="Keep every n-th."
)
@click.option("--seed", type=click.IntRange(0), help="Default: a fresh one, which is shown.")
@click.option("--sampler", type=SamplerName(), help="One of kg.samplers.  [default: NUTS]")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="A setting of the sampler, as a literal of Python. Repeatable.",
)
@click.option(
    "--initial",
    type=click.Choice(("prior", "random", "pathfinder")),
    help="Where chains start.  [default: short ascents]",
)
@click.option("--keep", multiple=True, metavar="NAME", help="Keep these draws alone. Repeatable.")
@until_options
@threads_option
@click.option(
    "--chain-method",
    type=click.Choice(("threads", "batch")),
    help="A thread a chain, or all as one batch.  [default: as suits the device]",
)
@click.option(
    "--store",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="PATH",
    help="A folder that draws go to as they come; `kinetograph resume PATH` goes on from it.",
)
@check_every
@out_option
@format_option
@click.option("--quiet", is_flag=True, help="Show no progress.")
@traceback_option
def sample(
    source: str,
    seed: int | None,
    sampler: str | None,
    settings: tuple[str, ...],
    keep: tuple[str, ...],
    until_ess: float | None,
    until_rhat: float | None,
    store: Path | None,
    out: Path | None,
    style: str,
    quiet: bool,
    show_traceback: bool,
    **options: Any,
) -> None:
    """Draw from the posterior of a model and print its summary.

    FILE is a Python file that makes a model at top level: model = kg.model(...). NAME chooses the
    variable if there are several.

    Ctrl-C and SIGTERM stop: what has been drawn is written and summarised, and a line says how to
    go on. Exit codes: 0 done, 1 failed, 2 wrong input, 130 stopped by Ctrl-C, 143 by SIGTERM.
    """
    target = None if out is None else check_target(out, (".nc",))
    if options["draws"] == ENDLESS:
        options["draws"] = None
    filled = store is not None and store.is_dir() and any(store.iterdir())
    if store is not None and filled and not (store / ".kinetograph").is_dir():
        raise InputError(f"{store} is a folder with other things, and no store of a run")
    with readable_warnings():
        wanted = make_until(until_ess, until_rhat)
        chosen = make_sampler(sampler, settings)
        model = load_model(source, show_traceback)

        def run() -> Any:
            from ..runs.mcmc import mcmc

            return mcmc(
                model,
                chosen,
                seed=seed,
                keep=list(keep) or True,
                until=wanted,
                store=store,
                progress=not quiet,
                on_sigterm="return",
                **options,
            )

        carry_out(run, out, target, store, style, show_traceback, show_seed=seed is None)
