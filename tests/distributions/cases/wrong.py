"""Values that parameters of draws must not have."""

import numpy as np

INF, NAN = np.inf, np.nan
NOT_FINITE = [NAN, INF, -INF]
SCALE, POSITIVE = [-1.0, *NOT_FINITE], [-1.0, 0.0, *NOT_FINITE]
SHARE = [-0.1, 1.1, *NOT_FINITE]


def placed(centre, spread):
    """Parameters of a place and a scale."""
    return {centre: (0.5, NOT_FINITE), spread: (2.0, SCALE)}


WEIGHTS = [[-0.5, 1.5], [0.0, 0.0], [NAN, 1.0], [INF, 1.0], [-INF, 1.0]]
HUGE = [2**63]
COVARIANCE = [[2.0, 0.5], [0.5, 1.0]]
NO_COVARIANCES = [
    [[2.0, 0.501], [0.5, 1.0]],
    [[1.0, 2.0], [2.0, 1.0]],
    [[-1.0, 0.0], [0.0, 1.0]],
    *([[1.0, 0.0], [0.0, bad]] for bad in NOT_FINITE),
]
