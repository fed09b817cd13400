"""`kg.temper`: posteriors and evidence against closed forms."""

import numpy as np
import pytest
from scipy import stats

import kinetograph as kg

DATA = np.array([1.2, 0.7, 1.9])


def conjugate():
    mu = kg.normal(0, 1, name="mu")
    kg.observe(DATA, kg.normal(mu, 1), name="y")
    return mu


EVIDENCE = stats.multivariate_normal(np.zeros(3), np.eye(3) + 1).logpdf(DATA)


@pytest.mark.parametrize("method", ["smc", "parallel"])
def test_conjugate_model(method):
    tree = kg.temper(kg.model(conjugate), method, seed=1, progress=False)
    attributes = tree.attrs
    assert abs(attributes["log_evidence"] - EVIDENCE) < 5 * attributes["log_evidence_se"]
    assert attributes["log_evidence_se"] < 0.1
    mu = tree["posterior"]["mu"].values.ravel()
    mean, sd = DATA.sum() / 4, 0.5
    assert abs(mu.mean() - mean) < 6 * sd / np.sqrt(300)
    assert abs(mu.std() - sd) < 6 * sd / np.sqrt(2 * 300)
    parts = tree["tempering"]["log_evidence"].values
    assert np.nansum(parts) == pytest.approx(attributes["log_evidence"], abs=1e-9)
    powers = tree["tempering"]["power"].values
    assert (np.diff(powers) > 0).all()
    assert powers[-1] == 1
