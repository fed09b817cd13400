"""Cases of families of vectors and matrices."""

import numpy as np
from scipy import stats
from tests.distributions.cases import wrong
from tests.distributions.cases.case import Case
from tests.distributions.cases.expected import (
    CENTRE,
    CHOL,
    COV,
    FEW,
    ROWS,
    SHARES,
    ar,
    by_draws_of_chain,
    by_scipy,
    lkj_cholesky,
    of,
)

__all__ = ["VECTORS"]


VECTORS = {
    "dirichlet": Case(
        moment_sets=[(np.array([0.5, 2.0, 7.0]),), (np.array([1e-6, 1e6, 1.0]),)],
        moments=by_scipy(stats.dirichlet),
        parameters={"alpha": ([1.0, 2.0], [[1.0, bad] for bad in wrong.POSITIVE])},
    ),
    "multinomial": Case(
        moment_sets=[(12, SHARES)],
        moments=lambda n, p: (n * p, np.diag(stats.multinomial(n, p).cov())),
        parameters={"size": (5, [-1, *wrong.HUGE]), "prob": ([0.5, 0.5], wrong.WEIGHTS)},
    ),
    "dirichlet_multinomial": Case(
        moment_sets=[(12, np.array([0.5, 2.0, 7.0]))],
        moments=lambda n, a: of(stats.dirichlet_multinomial(a, n)),
        parameters={
            "size": (5, [-1, *wrong.HUGE]),
            "alpha": ([1.0, 2.0], [[1.0, bad] for bad in wrong.POSITIVE]),
        },
    ),
    "multivariate_normal": Case(
        moment_sets=[(CENTRE, CHOL)],
        moments=lambda mean, chol: (mean, np.diag(COV)),
        parameters={
            "mean": ([0.5, 1.0], [[0.0, bad] for bad in wrong.NOT_FINITE]),
            "cov": (wrong.COVARIANCE, wrong.NO_COVARIANCES),
        },
    ),
    "multivariate_normal_precision": Case(
        moment_sets=[(CENTRE, CHOL)],
        moments=lambda mean, chol: (mean, np.diag(np.linalg.inv(COV))),
    ),
    "multivariate_student": Case(
        moment_sets=[(5.0, CENTRE, CHOL), (1.5, CENTRE, CHOL)],
        moments=lambda df, mean, chol: (mean, np.diag(COV) * stats.t(df).var()),
        parameters={
            "df": (3.0, wrong.POSITIVE),
            "mean": ([0.5, 1.0], [[0.0, bad] for bad in wrong.NOT_FINITE]),
            "cov": (wrong.COVARIANCE, wrong.NO_COVARIANCES),
        },
    ),
    "matrix_normal": Case(
        moment_sets=[(np.arange(6.0).reshape(3, 2), CHOL, FEW)],
        moments=lambda mean, rows, columns: (
            mean,
            np.diag(np.kron(rows @ rows.T, columns @ columns.T)).reshape(3, 2),
        ),
        parameters={
            "mean": (
                [[0.5, 1.0], [0.0, 0.0]],
                [[[0.0, bad], [0.0, 0.0]] for bad in wrong.NOT_FINITE],
            ),
            "row_cov": (wrong.COVARIANCE, wrong.NO_COVARIANCES),
            "col_cov": (wrong.COVARIANCE, wrong.NO_COVARIANCES),
        },
    ),
    "wishart": Case(
        moment_sets=[(4.5, CHOL)],
        moments=lambda df, chol: of(stats.wishart(df, COV)),
        parameters={
            "df": (3.0, [1.0, *wrong.POSITIVE]),
            "scale": (wrong.COVARIANCE, wrong.NO_COVARIANCES),
        },
    ),
    "lkj_correlation": Case(
        moment_sets=[(0.7,), (50.0,)],
        moments=lambda eta: (
            np.eye(4),
            np.where(np.eye(4) > 0, 0.0, 4 * stats.beta(eta + 1, eta + 1).var()),
        ),
        parameters={"eta": (2.0, wrong.POSITIVE)},
    ),
    "lkj_cholesky": Case(
        moment_sets=[(1.7,), (300.0,)],
        moments=lambda eta: lkj_cholesky(eta, 4),
        parameters={"eta": (2.0, wrong.POSITIVE)},
    ),
    "zero_sum_normal": Case(
        moment_sets=[(2.0,)],
        moments=lambda sd: (np.zeros(4), np.diag((np.eye(4) - 0.25) @ (np.eye(4) - 0.25)) * sd**2),
        parameters={"sd": (2.0, wrong.SCALE)},
    ),
    "random_walk": Case(
        moment_sets=[(0.5, 0.1, 1.0, 2.0)],
        moments=lambda sd, drift, mean, first: ar([1.0], sd, drift, mean, first, 4),
        parameters={"sd": (2.0, wrong.SCALE)},
    ),
    "ar": Case(
        moment_sets=[
            (np.array([0.5, -0.3]), 0.7, 0.2, 1.0, 2.0),
            (np.array([0.9]), 1.0, 0.0, 3.0, 0.1),
        ],
        moments=lambda *parameters: ar(*parameters, 4),
        parameters={"rho": ([0.5], [[bad] for bad in wrong.NOT_FINITE]), "sd": (2.0, wrong.SCALE)},
    ),
    "markov_chain": Case(
        moment_sets=[(SHARES, ROWS)],
        moments=lambda initial, rows: by_draws_of_chain(initial, rows, 4),
        parameters={
            "initial": ([0.5, 0.5], [[1.5, -0.5], [wrong.NAN, 1.0]]),
            "transition": ([[0.5, 0.5], [0.25, 0.75]], [[[1.5, -0.5], [0.5, 0.5]]]),
        },
    ),
}
