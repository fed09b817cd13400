"""A sampler for each chain: one program, with values of hyper-parameters of their own."""

import json

import numpy as np
import pytest

import kinetograph as kg
from kinetograph import samplers

pytestmark = pytest.mark.filterwarnings("ignore::kinetograph.SamplingWarning")
MODEL = kg.model(kg.normal(0.0, [1.0, 2.0], shape=2, name="x"))


def run(sampler, chains=3):
    return kg.mcmc(MODEL, sampler, draws=20, warmup=5, chains=chains, seed=1, progress=False)


def test_each_chain_is_that_of_its_own_sampler():
    made = [samplers.BAOAB(h, inverse_temperature=b) for h, b in ((0.1, 1.0), (0.3, 2.0), (0.2, 4))]
    tree = run(made)
    for i, sampler in enumerate(made):
        alone = run(sampler)
        assert alone.attrs["compile_time"] == 0
        np.testing.assert_array_equal(tree["posterior"]["x"][i], alone["posterior"]["x"][i])
    np.testing.assert_array_equal(tree["sampler_state"]["hyper_step_size"], [0.1, 0.3, 0.2])
    told = json.loads(tree.attrs["sampler_settings"])
    assert told == {
        "step_size": [0.1, 0.3, 0.2],
        "friction": 1.0,
        "inverse_temperature": [1.0, 2.0, 4],
    }


@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        ([samplers.BAOAB()], ValueError, "there are 3 chains and 1 samplers"),
        ([samplers.BAOAB()] * 2 + [3], TypeError, "3 is not a sampler"),
        ([samplers.BAOAB()] * 2 + [samplers.GLA2()], ValueError, r"chain 2 has GLA2\(\), chain 0"),
        (
            [samplers.BAOAB(0.1), samplers.BAOAB([0.1, 0.2]), samplers.BAOAB()],
            ValueError,
            "may differ only in the values of hyper-parameters",
        ),
    ],
)
def test_what_is_not_one_program_is_refused(given, error, text):
    with pytest.raises(error, match=f"mcmc: .*{text}"):
        run(given)
