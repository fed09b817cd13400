"""Functions by the paths of NumPy, SciPy and JAX: `kg.linalg.solve` is `kg.solve`."""

import numpy as np
import pytest
import scipy.fft
import scipy.linalg
import scipy.special

import kinetograph as kg
from kinetograph.calls.other_libraries import ELSEWHERE
from kinetograph.distributions.family import FAMILIES

ANSWERS = {
    "kg.linalg.solve(1, 2)": "it is kg.solve",
    "kg.linalg.cholesky": "it is kg.cholesky",
    "kg.linalg.norm(3)": "np.linalg.norm takes arrays",
    "kg.scipy.linalg.solve_triangular": "it is kg.solve_triangular",
    "kg.scipy.special.erf(1)": "it is kg.erf",
    "kg.special.expit": "scipy.special.expit takes arrays",
    "kg.special.beta(1, 2)": "scipy.special.beta takes arrays",
    "kg.special.owens_t": "it is kg.owens_t",
    "kg.fft.fftshift(1)": "np.fft.fftshift takes arrays",
    "kg.fft.fft(1)": "there is no",
    "kg.stats.norm": "here it is kg.normal",
    "kg.linalg": "functions of NumPy and SciPy are functions of kg",
    "kg.numpy.linalg": "functions of NumPy and SciPy are functions of kg",
}


def asked(code: str) -> str:
    with pytest.raises(AttributeError) as raised:
        eval(code, {"kg": kg})
    return str(raised.value)


@pytest.mark.parametrize("code", ANSWERS)
def test_the_answer_names_the_function(code):
    assert ANSWERS[code] in asked(code)


STARTS = ("there is no", "np.", "scipy.")
MODULES = {
    "linalg": (np.linalg, scipy.linalg),
    "fft": (np.fft, scipy.fft),
    "special": (scipy.special,),
}


@pytest.mark.parametrize("module", MODULES)
def test_every_function_is_answered(module):
    for library in MODULES[module]:
        for name in library.__all__:
            text = asked(f"kg.{module}.{name}(1)").partition("; ")[2]
            if module == "special" and name in FAMILIES:
                assert text.startswith(STARTS)
            elif name in kg.public.__all__:
                assert f"kg.{name}" in text
            else:
                assert text in ELSEWHERE.values() or text.startswith(STARTS), (name, text)
