"""Results of cross-validations, by arviz-stats.

arviz-stats is slow to import and is needed here only, so it is imported when it is used.
"""

from typing import Any

import numpy as np

__all__ = ["arviz", "finished", "kfold_result"]


def arviz(doing: str) -> Any:
    """The package arviz_stats.

    Raises
    ------
    ImportError
        If it is not installed.
    """
    try:
        import arviz_stats
    except ModuleNotFoundError as error:
        raise ImportError(
            f"{doing} needs arviz-stats: pip install 'kinetograph[compare]'"
        ) from error
    return arviz_stats


def finished(elpd: Any, lpd: np.ndarray) -> Any:
    """The sums of pointwise results, after some of them have changed.

    `lpd` holds the log of the mean density of each observation.
    """
    values = np.asarray(elpd.elpd_i.values)
    elpd.elpd = float(values.sum())
    elpd.se = float(np.sqrt(values.size * values.var()))
    elpd.p = float(lpd.sum() - elpd.elpd)
    elpd.p_loo_i = elpd.elpd_i.copy(data=lpd.reshape(values.shape) - values)
    elpd.warning = bool((elpd.pareto_k.values > elpd.good_k).any())
    return elpd


def kfold_result(elpd_i: Any, lpd: np.ndarray | None, samples: int, folds: int) -> Any:
    """The result of a k-fold cross-validation."""
    from arviz_stats.utils import ELPDDataLOOKFold

    values = elpd_i.values
    penalty = None if lpd is None else elpd_i.copy(data=lpd.reshape(values.shape) - values)
    make: Any = ELPDDataLOOKFold  # its types do not allow None, which it has for these
    return make(
        elpd=float(values.sum()),
        se=float(np.sqrt(values.size * values.var())),
        p=float("nan") if penalty is None else float(penalty.values.sum()),
        n_samples=samples,
        n_data_points=values.size,
        scale="log",
        warning=False,
        good_k=None,
        elpd_i=elpd_i,
        n_folds=folds,
        p_kfold_i=penalty,
    )
