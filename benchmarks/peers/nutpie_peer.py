"""nutpie: a PyMC model by Numba, one thread per core."""

import os

import nutpie
from common import Run, job, printed, report, save, warm
from pymc_models import build, densities

from models import QUANTITIES


def main() -> None:
    task = job()
    if task.mode == "density":
        return report(density=densities(task.model))
    compiled = nutpie.compile_pymc_model(build(task.model), backend="numba")

    def sample(seed):
        return nutpie.sample(
            compiled,
            draws=task.draws,
            tune=task.warmup,
            chains=task.chains,
            cores=len(os.sched_getaffinity(0)),
            seed=seed,
            progress_bar=False,
        )

    def draws(tree):
        return {name: tree["posterior"][name].values for name in QUANTITIES[task.model]}

    def read(tree):
        groups = ("sample_stats", "warmup_sample_stats")
        gradients = sum(int(tree[group]["n_steps"].sum()) for group in groups)
        return Run(draws(tree), gradients, int(tree["sample_stats"]["diverging"].sum()))

    if task.mode == "warm":
        return warm(task, sample, read)
    tree = sample(task.seed)
    from arviz_stats import summary

    print(summary(tree, var_names=list(QUANTITIES[task.model])))
    printed()
    save(task, draws(tree))


if __name__ == "__main__":
    main()
