"""PyMC's NUTS: default `pm.sample`, one process per core."""

import os

import pymc as pm
from common import Run, job, printed, report, save, warm
from pymc_models import build, densities

from models import QUANTITIES, STARTS


def main() -> None:
    task = job()
    if task.mode == "density":
        return report(density=densities(task.model))
    model = build(task.model)

    # No jitter with a given start, because PyMC would add it to the start.
    init = "adapt_diag" if task.model in STARTS else "auto"

    def sample(seed, **options):
        with model:
            return pm.sample(
                draws=task.draws,
                tune=task.warmup,
                chains=task.chains,
                cores=len(os.sched_getaffinity(0)),
                random_seed=seed,
                nuts_sampler="pymc",
                init=init,
                progressbar=False,
                **options,
            )

    def draws(tree):
        return {name: tree["posterior"][name].values for name in QUANTITIES[task.model]}

    def read(tree):
        # an untimed run with the same seed that keeps the warm-up, to count its steps
        whole = sample(task.seed, discard_tuned_samples=False)
        groups = ("sample_stats", "warmup_sample_stats")
        gradients = sum(int(whole[group]["n_steps"].sum()) for group in groups)
        return Run(draws(tree), gradients, int(tree["sample_stats"]["diverging"].sum()))

    if task.mode == "warm":
        return warm(task, sample, read)
    tree = sample(task.seed)
    print(pm.stats.summary(tree, var_names=list(QUANTITIES[task.model])))
    printed()
    save(task, draws(tree))


if __name__ == "__main__":
    main()
