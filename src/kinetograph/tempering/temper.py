"""`kg.temper`: from the prior to the posterior, and the evidence."""

import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np

from ..graph.errors import ModelError
from ..graph.public import public
from ..graph.source import place_text
from ..graph.value_texts import shown
from ..models.model import Model, check_model
from ..models.result_types import DataTree
from ..models.unused_data import warn_of_later
from ..runs.arguments import check_one_of, check_sampler, check_seed, check_whole
from ..runs.chains import threads_available
from ..runs.devices import Devices, devices_of, division
from ..runs.progress.display import Progress
from ..runs.progress.reporting import LoggedProgress, make_progress
from ..runs.signals import stoppable_call
from ..runs.store.place import folder
from ..samplers.hmc import HMC
from ..samplers.sampler import Sampler
from .nested import nested
from .parallel import parallel
from .prior import check_prior
from .sequential import sequential
from .task import TemperingTask

__all__ = ["temper"]

RUNS: dict[str, Callable[..., Any]] = {
    "smc": sequential,
    "nested": nested,
    "parallel": parallel,
}
PARTICLES = {"particles": 1000}  # sizes of a run, with their defaults
PARALLEL = {"chains": 4, "draws": 1000, "warmup": 300}
LEAST = {"particles": 2, "chains": 1, "draws": 4, "warmup": 0}


@public
@stoppable_call
def temper(
    model: Model,
    method: Literal["smc", "nested", "parallel"] | str = "smc",
    sampler: Sampler | None = None,
    *,
    particles: int | None = None,
    chains: int | None = None,
    draws: int | None = None,
    warmup: int | None = None,
    ladder: Sequence[float] | None = None,
    seed: int | np.integer | None = None,
    store: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    devices: Devices = None,
    progress: bool | Progress = True,
) -> "DataTree":
    """Draw from a posterior with many modes, and compute the evidence.

        p_b(x) proportional to p(x) L(x)^b,  0 <= b <= 1,    Z = integral of p(x) L(x)

    The likelihood L is raised to powers from 0, where the prior is drawn exactly, to 1, the
    posterior. Between modes the density of a small power is flat, so draws reach modes that a chain
    of `kg.mcmc` misses. The evidence Z is the density of the data under the model; its ratios
    compare models (Bayes factors).

    Parameters
    ----------
    model
        Made by `kg.model`, with a distribution of each unknown. L has the observed data and all
        factors. Discrete unknowns are marginalised, and drawn again for the results.
    method
        "smc": sequential Monte Carlo. Particles of the prior are weighted, resampled and moved,
        from one power to the next. The powers are chosen so that the weights of each step have a
        conditional effective sample size of 85 %. "nested": nested sampling by sequential Monte
        Carlo. Particles of the prior go up levels of the likelihood, and the particles of all
        levels are weighted as draws of the posterior. It finds narrow maxima that no power of the
        likelihood favours (a first-order phase transition), and takes more evaluations. "parallel":
        non-reversible parallel tempering. Each chain has a replica at each power, and neighbours
        swap their states. The ladder is tuned to equal rejection of the swaps.
    sampler
        The moves at each power: any `kg.Sampler` that moves single points. By default HMC, with
        trajectories of about a quarter of a period. Step size, and scale if the sampler tunes it,
        are tuned at each power. A sampler without a Metropolis test makes the evidence inexact,
        and warns.
    particles
        Of "smc" and "nested": the number of particles, which are the draws of the results; by
        default 1000.
    chains, draws, warmup
        Of "parallel": the number of ladders, the scans of each one that are kept, and the scans
        before them that tune it; by default 4, 1000 and 300.
    ladder
        Of "smc" and "parallel": the powers, rising, up to 1; by default the run chooses them.
    seed
        As for `kg.mcmc`. Results do not depend on the number of threads or devices.
    store
        A folder, such as "run.zarr", for checkpoints of the run. The same call of `kg.temper`
        continues a run that was stopped or killed, with the results of an uninterrupted run, to
        the last bit and for any number of threads or devices. Particles write a checkpoint after
        each power or level, and parallel tempering every five seconds, but checkpoints take at most
        5 % of the time. When the run has ended, the folder is a zarr store that xarray opens as
        these results, `xarray.open_datatree(store, engine="zarr")`, and the same call returns them
        at once. With `seed=None` the same call uses the seed of that run.
    threads
        The number of batches of points that run at once; by default the number of processors.
    devices
        The JAX devices that move the points, as for `kg.mcmc`. Batches of points take turns on
        them, and each device moves one batch at a time.
    progress
        True shows a line for each power or level. False shows nothing.

    Returns
    -------
    xarray.DataTree
        Results in the ArviZ schema, which `kg.summary`, `kg.predict`, `kg.loo` and so on take.
        `tree.attrs["log_evidence"]` is log Z, and `tree.attrs["log_evidence_se"]` its standard
        error. `tree["tempering"]` has the powers or levels, and what happened at each one. With
        "smc" and "nested" the results have one chain, whose draws are the particles; particles with
        a common ancestor are neighbours, so that effective sample sizes count them as correlated.
        With "parallel" `tree.attrs` also has the communication barrier, the round trips and, as
        `log_evidence_thermodynamic`, a second estimate of log Z by the thermodynamic integral,
        whose interval at the prior is a stepping stone.

    Raises
    ------
    TypeError, ValueError
        If an argument is not valid: one of another method, no more particles than free numbers, a
        ladder that does not rise to 1, a sampler that moves ensembles, more devices than there are.
    ModelError
        If an unknown has no distribution, the model has no likelihood or an infinite one, or uses
        mini-batches. With "nested", if the likelihood has no maximum.
    StartError
        If the likelihood is zero at all draws of the prior.
    KinetographError
        If the store holds something else, a run that another process continues, or a run with other
        arguments, data, model or versions; the message names the differences.
    OSError
        If the store cannot be written, because the disk is full or read-only.
    KeyboardInterrupt
        At Ctrl-C. With "parallel", the draws so far are returned after the warm-up, with a warning.
    SystemExit
        At SIGTERM.

    Warns
    -----
    SamplingWarning
        If the standard error is not reliable: few ancestors of the particles, or few round trips.
        For R-hat above 1.01 and low effective sample sizes, as `kg.mcmc`. If the sampler has no
        Metropolis test.

    Notes
    -----
    The variance of log Z comes from one run. "smc": from the sizes of the families of particles
    with a common ancestor (A. Lee, N. Whiteley, Biometrika 105 (2018)). "nested": in the same way,
    for the levels that have posterior mass. "parallel": from the autocorrelation of the scans. All
    see only modes that have been found.

    Sources: P. Del Moral, A. Doucet, A. Jasra, Sequential Monte Carlo samplers, JRSS B 68 (2006);
    R. Salomone et al., Unbiased and consistent nested sampling via sequential Monte Carlo, JRSS B
    (2024); S. Syed et al., Non-reversible parallel tempering, JRSS B 84 (2022); W. Xie et al.,
    Systematic Biology 60 (2011), for the stepping stones.

    Examples
    --------
    >>> import kinetograph as kg
    >>> mu = kg.normal(0, 1, name="mu")
    >>> y = kg.observe([1.2, 0.7, 1.9], kg.normal(mu, 1), name="y")
    >>> tree = kg.temper(kg.model(mu), seed=1, progress=False)
    >>> print(f"{tree.attrs['log_evidence']:.1f}")  # exactly -4.41
    -4.4
    """
    check_model(model, "temper")
    if isinstance(method, Sampler):
        raise TypeError(
            f'temper: the second argument is the method, such as "smc"{place_text()}; write '
            f"sampler={type(method).__name__}(...)"
        )
    check_one_of("temper", "method", method, tuple(RUNS), "")
    warn_of_later(model, "temper")
    sizes = _sizes(
        method, {"particles": particles, "chains": chains, "draws": draws, "warmup": warmup}
    )
    check_whole("temper", {"threads": (1 if threads is None else threads, 1)})
    if method == "nested" and ladder is not None:
        raise ValueError(
            f'temper: method="nested" goes up levels that it finds{place_text()}; leave out '
            'ladder=, or take method="smc"'
        )
    chosen = devices_of("temper", devices)
    divided = division("temper", "threads", len(chosen), chosen, threads)
    place = None if store is None else folder("temper", store)
    task = TemperingTask(
        model,
        HMC(path_jitter=0.3) if sampler is None else check_sampler(sampler, "temper"),
        sampler is None,
        None if ladder is None else _ladder(ladder),
        check_seed(seed, "temper"),
        threads or len(divided.devices) or threads_available(),
        LoggedProgress(make_progress(progress, "temper"), "temper"),
        method == "nested",
        divided.devices,
    )
    _check(task)
    if "particles" in sizes:
        _check_particles(model, sizes["particles"])
    run = partial(RUNS[str(method)], task, **sizes)
    if place is None:
        return run()
    from .stored_runs import stored  # zarr is slow to import, and rarely used

    return stored(place, task, {"method": method, **sizes}, seed is None, run)


def _sizes(method: str, given: dict[str, int | None]) -> dict[str, int]:
    """The sizes of a run; sizes of other methods are refused."""
    defaults = PARALLEL if method == "parallel" else PARTICLES
    unfit = [name for name, size in given.items() if size is not None and name not in defaults]
    if unfit:
        advice = (
            'give draws= and chains=, or take method="smc"'
            if method == "parallel"
            else "its particles, in one chain, are the draws: give particles=1000, or take "
            'method="parallel"'
        )
        raise ValueError(
            f'temper: method="{method}" has no {", ".join(f"{name}=" for name in unfit)}'
            f"{place_text()}; {advice}"
        )
    sizes = defaults | {name: size for name, size in given.items() if size is not None}
    check_whole("temper", {name: (size, LEAST[name]) for name, size in sizes.items()})
    return {name: int(size) for name, size in sizes.items()}


def _check(task: TemperingTask) -> None:
    """Refuse models and samplers that cannot be tempered."""
    model, sampler = task.model, task.sampler
    if model.batch is not None:
        raise ModelError(
            "temper: the model uses mini-batches (kg.minibatch), by which the likelihood is only "
            "estimated; its powers and the evidence need all rows: give the model without "
            "kg.minibatch"
        )
    if sampler.walkers is not None:
        raise TypeError(
            f"temper: {type(sampler).__name__} moves ensembles of walkers; give a sampler that "
            "moves single points, such as kg.samplers.HMC()"
        )
    check_prior(task.tempered, "temper")


def _check_particles(model: Model, particles: int) -> None:
    """Refuse fewer particles than free numbers."""
    if particles <= model.free_size:
        raise ValueError(
            f"temper: {particles} particles are too few for the {model.free_size} free numbers of "
            f"the model; give particles={max(1000, 10 * model.free_size)} or more"
        )


def _ladder(given: Any) -> np.ndarray:
    """The powers of the likelihood above 0."""
    try:
        powers = np.asarray(given, float)
    except (TypeError, ValueError):
        powers = np.empty(0)
    rises = powers.ndim == 1 and powers.size > 0 and np.all(np.diff(powers) > 0)
    powers = powers[1:] if rises and powers[0] == 0 else powers
    if not (rises and powers.size and powers[0] > 0 and powers[-1] == 1):
        raise ValueError(
            f"temper: ladder must be numbers that rise to 1, such as [0.01, 0.1, 1], got "
            f"{shown(given)}{place_text()}"
        )
    return powers
