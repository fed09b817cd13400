"""The tables of `docs/numpy.md` are complete and true."""

import re
from inspect import signature
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy
import scipy.special
from tests.docs.numpy_tables import MODULES, PAGE, REFUSED, functions, kind, written

import kinetograph as kg
from kinetograph.graph.numpy.alternatives import ROWS
from kinetograph.graph.numpy.protocol import is_available

ALL = [(module, name) for module in MODULES for name in functions(module)]


def test_each_function_is_in_one_table() -> None:
    tables = {(module, name): kind(module, name) for module, name in ALL}
    assert not {key: kinds for key, kinds in tables.items() if len(kinds) != 1}
    listed = [(row.module, name) for row in ROWS for name in row.names.split()]
    assert len(listed) == len(set(listed))


def test_the_page_has_the_tables_of_the_code() -> None:
    page = PAGE.read_text(encoding="utf-8")
    shown = re.search(r"Of NumPy (\S+), SciPy (\S+):", page)
    assert shown is not None
    if [".".join(m.__version__.split(".")[:2]) for m in (np, scipy)] != list(shown.groups()):
        pytest.skip("other versions have other functions")
    assert written(page) == page, "python -m tests.docs.numpy_tables"


# Arguments of functions that have arguments that are not arrays, or any number of arguments.
ARGUMENTS = {
    "can_cast": "x, int",
    "apply_along_axis": "np.sum, 0, x",
    "apply_over_axes": "np.sum, x, [0]",
    "array2string": "x",
    "choose": "x, [x, y]",
    "datetime_as_string": "x",
    "diric": "x, 5",
    "einsum_path": "'i,i->', x, x",
    "factorialk": "x, 2",
    "histogramdd": "x",
    "insert": "x, 0, 1.0",
    "ix_": "i",
    "lpmv": "1, 2, x",
    "piecewise": "x, [x > 0], [1.0]",
    "save": "'nowhere', x",
    "savetxt": "'nowhere', x",
    "savez": "'nowhere', x",
    "savez_compressed": "'nowhere', x",
    "stirling2": "x, 2",
    "legendre_p": "2, x",
    "legendre_p_all": "2, x",
    "assoc_legendre_p": "2, 1, x",
    "assoc_legendre_p_all": "2, 1, x",
    "sph_legendre_p": "2, 1, x",
    "sph_legendre_p_all": "2, 1, x",
    "sph_harm_y": "2, 1, x, x",
    "sph_harm_y_all": "2, 1, x, x",
    "multigammaln": "x, 2",
    "polygamma": "1, x",
    "perm": "x, 2",
    "comb": "x, 2",
    **dict.fromkeys(["spherical_jn", "spherical_yn", "spherical_in", "spherical_kn"], "2, x"),
    **dict.fromkeys(["jvp", "yvp", "ivp", "kvp", "h1vp", "h2vp"], "2, x"),
    **dict.fromkeys(["assoc_laguerre", "ellip_normal"], "x, 1, 1, 1"),
    "ellip_harm": "2, 1, 1, 1, x",
    "ellip_harm_2": "2, 1, 1, 1, x",
}
ARGUMENTS["assoc_laguerre"] = "x, 1"
NAMESPACE = {
    "jax": jax,
    "jnp": jnp,
    "kg": kg,
    "np": np,
    "scipy": scipy,
    "a": kg.placeholder((3, 3), name="a"),
    "i": kg.placeholder((3,), "int64", name="i"),
    "j": kg.placeholder((3,), "int64", name="j"),
    "labels": np.array([0, 2, 1]),
    "p": kg.placeholder((3,), name="p"),
    "x": kg.placeholder((3,), name="x"),
    "y": kg.placeholder((3,), name="y"),
}


def call(module: str, name: str) -> str:
    function = functions(module)[name]
    count = getattr(function, "nin", None)
    arguments = ", ".join(["x"] * count) if count else ARGUMENTS.get(name)
    if arguments is None:
        needed = [p for p in signature(function).parameters.values() if p.default is p.empty]
        arguments = ", ".join("x" for p in needed if p.kind is not p.VAR_KEYWORD)
    return f"{module.replace('numpy', 'np')}.{name}({arguments})"


@pytest.mark.filterwarnings("ignore")
def test_the_error_for_a_refused_function_has_the_replacement(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    silent = []
    for (module, name), row in REFUSED.items():
        if name not in functions(module):
            continue
        text = call(module, name)
        words = re.sub(r"\W+", " ", row.instead).strip()
        try:
            eval(text, dict(NAMESPACE))
        except Exception as error:
            if words in re.sub(r"\W+", " ", str(error)):
                continue
            silent.append(f"{text}: {type(error).__name__}: {error}")
        else:
            silent.append(text)
    assert not silent, "\n".join(silent)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["np.tensordot", "np.linalg.lstsq", "scipy.special.exprel"])
def test_a_name_that_only_numpy_or_scipy_has(name: str) -> None:
    with pytest.raises(AttributeError, match=f"; {re.escape(name)} takes arrays$"):
        getattr(kg, name.rpartition(".")[2])


def codes() -> list[str]:
    replacements = [code for row in ROWS for code in re.findall(r"`(.*?)`", row.instead)]
    return [code for code in dict.fromkeys(replacements) if "print" not in code]


@pytest.mark.parametrize("code", codes())
def test_a_replacement_makes_a_graph(code: str) -> None:
    eval(code, dict(NAMESPACE))


# Arguments for which the first replacement in the row gives the same values.
SAME = {
    **dict.fromkeys(["rgamma", "loggamma", "zetac", "cotdg", "factorial", "dawsn", "erfi"], "x"),
    **dict.fromkeys(["spence", "logsumexp", "softmax", "log_softmax"], "x"),
    "ndtri_exp": "-x",
    "poch": "x, y",
    "powm1": "x, y",
    "diric": "x, 5",
    "spherical_in": "2, x",
    "spherical_kn": "2, x",
    "perm": "x, 2",
    "comb": "x, 2",
    "multigammaln": "x, 2",
    "polygamma": "2, x",
    "expn": "2, x",
    "hyp1f1": "0.5, 1.5, x",
    "hyp2f1": "0.5, 1.0, 1.5, 0.1 * x",
    "jv": "1, x",
    "eval_legendre": "3, x",
    "chdtr": "3, x",
    "fdtr": "3, 4, x",
    "gdtr": "1.0, 2.0, x",
    "chdtri": "3, 1 - p",
    "fdtri": "3, 4, p",
    "gdtrix": "1.0, 2.0, p",
    "betaincinv": "2.0, 3.0, p",
    "stdtrit": "5, p",
}
AT = {"x": np.array([2.25, 3.0, 3.5]), "y": np.array([0.5, 1, 2]), "p": np.array([0.1, 0.5, 0.9])}


@pytest.mark.slow  # one program for all functions
def test_a_replacement_gives_the_same_values() -> None:
    given = dict(NAMESPACE)
    outputs, expected = [], []
    for name, arguments in SAME.items():
        row = REFUSED["scipy.special", name]
        code = re.findall(r"`(.*?)`", row.instead)[0]
        turned = {"x": -given["x"]} if arguments == "-x" else {}
        outputs.append(eval(code, {**given, **turned}))
        expected.append(eval(f"scipy.special.{name}({arguments})", {"scipy": scipy, **AT}))
    results = kg.compile([given[name] for name in AT], outputs)(*AT.values())
    for name, got, right in zip(SAME, results, expected, strict=True):
        np.testing.assert_allclose(got, right, rtol=1e-8, err_msg=name)


def test_available_functions_are_called_in_the_tests_of_the_graph() -> None:
    tests = Path(__file__).parents[1] / "graph"
    text = "".join(path.read_text(encoding="utf-8") for path in tests.rglob("*.py"))
    names = {
        re.sub("^nan(?=[a-z])", "", function.__name__)
        for module in ("numpy", "numpy.linalg", "numpy.fft")
        for function in functions(module).values()
        if not isinstance(function, np.ufunc) and is_available(function)
    }
    assert not [name for name in names if not re.search(rf"\.{name}\b", text)]
