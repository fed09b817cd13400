"""How long likelihoods and factors stand: loops add, code that runs again replaces."""

import gc
import importlib
import sys
import types
import warnings
import weakref

import numpy as np
import pytest
from scipy import stats

import kinetograph as kg
from kinetograph.graph.node import Node


def terms(model):
    return len(model.component.likelihoods)


def observed(model):
    return [n.value.tolist() for n in model.observed]


def run(source, space, filename="<cell>"):
    """Run source as notebooks, prompts and `exec` do: compiled anew each time."""
    exec(compile(source, filename, "exec"), space)


def replaced(count=1):
    """Expects so many warnings that something was replaced."""

    class Warnings(warnings.catch_warnings):
        def __enter__(self):
            self.log = super().__enter__()
            warnings.simplefilter("always")

        def __exit__(self, *info):
            super().__exit__(*info)
            found = [str(w.message) for w in self.log]
            assert len(found) == count, found
            assert all("replaces" in text and "\n" not in text for text in found)

    return Warnings(record=True)


CELLS = {
    "variable": "y = kg.data([1.0, 2.0]); kg.observe(y, kg.normal(mu, 1))",
    "inline": "kg.observe(kg.data([1.0, 2.0]), kg.normal(mu, 1))",
    "plain": "kg.observe([1.0, 2.0], kg.normal(mu, 1))",
    "numpy": "y = np.array([1.0, 2.0]); kg.observe(y, kg.normal(mu, 1))",
    "autoregression": "y = kg.data([1.0, 2.0]); kg.observe(y, kg.normal(mu * y, 1))",
    "function": "def f():\n    kg.observe(kg.data([1.0, 2.0]), kg.normal(mu, 1))\nf()",
    "unknown": "t = kg.normal(mu, 1); kg.observe([1.0, 2.0], kg.normal(t, 1)); kg.model(mu, t)",
}


def space():
    made = {"kg": kg, "np": np, "__name__": "__main__"}
    run("mu = kg.normal(0, 1)", made)
    return made


def keep_last(names, count):
    """What IPython's `Out` and `_3` keep: the value of a cell's last line."""
    names[f"_{count}"] = names.get("y")


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("filename", ["<cell>", "<stdin>", "<ipython-input-{}-ab>"])
def test_a_cell_run_again_counts_once(cell, filename):
    names = space()
    run(CELLS[cell], names, filename.format(1))
    first = kg.model(names["mu"])
    for count in (2, 3):
        keep_last(names, count)
        with replaced():
            run(CELLS[cell], names, filename.format(count))
        model = kg.model(names["mu"])
        assert observed(model) == [[1.0, 2.0]]
        assert terms(model) == 1
        names[f"model_{count}"] = model
    assert terms(first) == 1
    assert np.isfinite(first.log_prob(np.zeros(first.free_size)))


@pytest.mark.parametrize("identity", ["a3f0", None])
def test_an_edited_cell_of_a_notebook_that_says_which_cell_it_is(monkeypatch, identity):
    request = {"metadata": {} if identity is None else {"cellId": identity}}
    shell = types.SimpleNamespace(execution_count=1, get_parent=lambda: request)
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    names = space()

    def cell(*values):
        shell.execution_count += 1
        for line, value in enumerate(values):  # each statement is compiled alone
            statement = f"kg.observe(kg.data([{value}]), kg.normal(mu, 1))"
            run("\n" * line + statement, names, f"/tmp/ipykernel_1/{hash(values)}.py")

    with replaced(0):
        cell(1.0, 2.0)
    with replaced(0 if identity is None else 1):
        cell(3.0, 4.0)
    known = [[1.0], [2.0]] if identity is None else []
    assert observed(kg.model(names["mu"])) == [*known, [3.0], [4.0]]
    request["metadata"] = {"cellId": "b771"} if identity else {}
    with replaced(0):
        cell(5.0)  # another cell adds
    assert observed(kg.model(names["mu"])) == [*known, [3.0], [4.0], [5.0]]


@pytest.mark.parametrize("cell", ["variable", "numpy"])
@pytest.mark.parametrize("filename", ["<cell>", "<stdin>", "{}.py"])
def test_an_edited_cell_that_keeps_its_variable_replaces(cell, filename):
    names = space()
    run(CELLS[cell], names, filename.format("a"))
    with replaced():
        run("\n# moved\n" + CELLS[cell].replace("2.0", "5.0"), names, filename.format("b"))
    assert observed(kg.model(names["mu"])) == [[1.0, 5.0]]


def test_a_cell_of_several_statements_run_again():
    names = space()
    cell = (
        "for i in range(3):\n    kg.observe(kg.data(float(i)), kg.normal(mu, 1))\n"
        "kg.observe([7.0], kg.normal(mu, 1))\nkg.factor(-mu**2)"
    )
    run(cell, names)
    for _ in range(2):
        with replaced():
            run(cell, names)
        model = kg.model(names["mu"])
        assert observed(model) == [0.0, 1.0, 2.0, [7.0]]
        assert len(model.component.factors) == 1


def test_only_the_statement_that_observes_is_run_again():
    names = space()
    run("y = kg.data([1.0])", names)
    with replaced(0):
        run("kg.observe(y, kg.normal(mu, 1))", names)
    with replaced():
        run("kg.observe(y, kg.normal(mu, 1))", names)
    assert terms(kg.model(names["mu"])) == 1
    with replaced(0):  # other code adds
        run("kg.observe(y, kg.normal(mu, 2))", names)
    with pytest.warns(kg.KinetographWarning, match="y is observed twice"):
        assert terms(kg.model(names["mu"])) == 2


def test_a_function_that_is_defined_again_and_called_at_the_same_place():
    names = space()
    for count in range(3):
        define = "def state(value):\n    return kg.observe(kg.data(value), kg.normal(mu, 1))"
        run(define, names)
        with replaced(int(count > 0)):
            names["state"]([1.0])
    assert terms(kg.model(names["mu"])) == 1


def test_a_module_that_is_reloaded(tmp_path, monkeypatch):
    path = tmp_path / "stated_in_a_module.py"
    (tmp_path / "unknown_of_a_module.py").write_text(
        "import kinetograph as kg\nmu = kg.normal(0, 1)\n"
    )
    text = "import kinetograph as kg\nfrom unknown_of_a_module import mu\n"
    path.write_text(text + "y = kg.data([1.0])\nkg.observe(y, kg.normal(mu, 1))\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    module = importlib.import_module("stated_in_a_module")
    with replaced():
        importlib.reload(module)
    assert terms(kg.model(module.mu)) == 1
    path.write_text(text + "\ny = kg.data([1.0, 22.0])\nkg.observe(y, kg.normal(mu, 1))\n")
    importlib.invalidate_caches()
    with replaced():
        importlib.reload(module)
    assert observed(kg.model(module.mu)) == [[1.0, 22.0]]
    for name in ("stated_in_a_module", "unknown_of_a_module"):
        del sys.modules[name]


# What adds ---------------------------------------------------------------------------------------


def test_loops_and_functions_add():
    mu = kg.normal(0, 1)
    values = [1.0, 2.0, 3.0]

    def add(value):
        y = kg.data(value)
        kg.observe(y, kg.normal(mu, 1))

    with replaced(0):
        for value in values:
            kg.observe(kg.data(value), kg.normal(mu, 1))
        for value in values:
            add(value)
        add(4.0)
        kg.observe(np.array([5.0]), kg.normal(mu, 1))
        kg.observe(np.array([5.0]), kg.normal(mu, 1))
    model = kg.model(mu)
    assert observed(model) == [*values, *values, 4.0, [5.0], [5.0]]
    flat = np.hstack([values, values, 4.0, 5.0, 5.0])
    wanted = stats.norm.logpdf(0.5) + stats.norm.logpdf(flat, 0.5).sum()
    assert float(model.log_prob([0.5])) == pytest.approx(wanted, rel=1e-12)


def test_a_loop_over_code_that_is_compiled_once_adds():
    names = space()
    code = compile("kg.observe(kg.data(1.0), kg.normal(mu, 1))", "<cell>", "exec")
    with replaced(0):
        for _ in range(3):
            exec(code, names)
    assert terms(kg.model(names["mu"])) == 3


@pytest.mark.parametrize("filename", ["<stdin>", "<python-input-{}>", "cell_{}.py"])
def test_different_statements_add(filename):
    names = space()
    statements = [
        "y = kg.data(1.0); kg.observe(y, kg.normal(mu, 1))",
        "z = kg.data(1.0); kg.observe(z, kg.normal(mu, 1))",
        "kg.observe([1.0], kg.normal(mu, 1))",
        "kg.observe([2.0], kg.normal(mu, 1))",
        "old = z",
        "z = kg.data(3.0); kg.observe(z, kg.normal(mu, 1))",  # `old` holds the one before
    ]
    with replaced(0):
        for count, statement in enumerate(statements):
            run(statement, names, filename.format(count))
    assert observed(kg.model(names["mu"])) == [1.0, 1.0, [1.0], [2.0], 3.0]


def test_the_statements_of_one_run_of_a_cell_add(monkeypatch):
    """IPython compiles each statement of a cell alone."""

    shell = types.SimpleNamespace(execution_count=7)
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    names = space()

    def cell():
        for line, value in enumerate((1.0, 2.0)):
            run("\n" * line + f"y = [{value}]", names)
            run("\n" * line + "kg.observe(y, kg.normal(mu, 1))", names)

    with replaced(0):
        cell()
    assert observed(kg.model(names["mu"])) == [[1.0], [2.0]]
    shell.execution_count = 8
    with replaced():
        cell()
    assert observed(kg.model(names["mu"])) == [[1.0], [2.0]]


def test_functions_that_make_a_model_of_new_unknowns():
    y = kg.data([1.0, 2.0])

    def make(sd):
        mu = kg.normal(0, 1)
        kg.observe(y, kg.normal(mu, sd))
        return mu

    with replaced(0):
        first, second = make(1.0), make(2.0)
    for mu, sd in ((first, 1.0), (second, 2.0)):
        model = kg.model(mu)
        assert terms(model) == 1
        wanted = stats.norm.logpdf(0.5) + stats.norm.logpdf([1.0, 2.0], 0.5, sd).sum()
        assert float(model.log_prob([0.5])) == pytest.approx(wanted, rel=1e-12)


# What is kept ------------------------------------------------------------------------------------


def test_nothing_needs_to_be_kept():
    def build():
        mu = kg.normal(0, 1)
        theta = kg.normal(mu, 1, shape=2)
        kg.observe(kg.data([1.0, 2.0]), kg.normal(theta, 1))
        return mu

    mu = build()
    gc.collect()
    model = kg.model(mu)
    assert model.names == ("mu", "normal_1")
    assert observed(model) == [[1.0, 2.0]]


def test_data_given_as_they_are_go_by_the_name_of_their_variable():
    mu = kg.normal(0, 1)
    heights = np.array([1.0, 2.0])
    kg.observe(heights, kg.normal(mu, 1))
    kg.observe([3.0], kg.normal(mu, 1), name="others")
    for part in ([1.0], [2.0]):
        kg.observe(part, kg.normal(mu, 1))
    kg.observe([4.0], kg.normal(mu, 1))
    model = kg.model(mu)
    names = [model.name(n) for n in model.observed]
    assert names == ["heights", "others", "part_1", "part_2", "data_1"]


def test_observing_again_adds():
    mu = kg.normal(0, 1)
    y = kg.data(1.0)
    with replaced(0):
        kg.observe(y, kg.normal(mu, 1))
        kg.observe(y, kg.normal(mu, 2))
    wanted = stats.norm.logpdf(0.3) + stats.norm.logpdf(1.0, 0.3, [1, 2]).sum()
    with pytest.warns(kg.KinetographWarning, match="y is observed twice"):
        model = kg.model(mu)
    assert float(model.log_prob([0.3])) == pytest.approx(wanted, rel=1e-12)


def test_the_warning_says_what_is_replaced_and_how_to_have_both():
    names = space()
    for sd in (1, 1):
        with warnings.catch_warnings(record=True) as log:
            warnings.simplefilter("always")
            run(f"y = kg.data(1.0)\nkg.observe(y, kg.normal(mu, {sd}))", names)
    assert str(log[0].message) == (
        "y is stated by code that was run before, and replaces its earlier statement, normal at "
        "<cell>:2. To keep both, state them in one loop, or in different code"
    )
    assert log[0].filename == "<cell>"


@pytest.mark.slow
def test_rebuilding_leaves_no_nodes():
    # Twenty builds with a compilation each would be slow; building alone is what leaks.
    def build():
        mu = kg.normal(0, 1)
        R = kg.lkj_correlation(1, 3)
        y = kg.data([1.0, 2.0])
        kg.observe(y, kg.normal(mu * y + kg.cholesky(R)[0, 0], 1))
        kg.observe([1.0], kg.normal(mu, 1))
        kg.factor(-(mu**2))
        return weakref.ref(kg.model(mu, R)), [weakref.ref(a.node) for a in (mu, R, y)]

    build()
    gc.collect()
    before = sum(isinstance(o, Node) for o in gc.get_objects())
    references = [build() for _ in range(50)]
    gc.collect()
    assert all(m() is None and not any(r() for r in nodes) for m, nodes in references)
    assert sum(isinstance(o, Node) for o in gc.get_objects()) <= before


def test_what_is_replaced_is_freed_at_once():
    names = space()
    gc.collect()
    gc.disable()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", kg.KinetographWarning)
            for _ in range(50):
                run(CELLS["variable"], names)
        assert len(list(names["mu"].node.children)) <= 2
    finally:
        gc.enable()


def test_what_is_computed_from_data_is_observed():
    """An autoregression: each value given the one before."""
    y = kg.data([1.0, 2.0, 4.0, 3.0], name="y", dims="time")
    phi = kg.normal(0, 1, name="phi")
    observed = kg.observe(y[1:], kg.normal(phi * y[:-1], 1.0))
    kg.observe(kg.log(y), kg.normal(phi, 1.0), name="logs")
    model = kg.model(phi)
    values = np.array([1.0, 2.0, 4.0, 3.0])
    expected = stats.norm.logpdf(values[1:], 0.5 * values[:-1]).sum()
    expected += stats.norm.logpdf(np.log(values), 0.5).sum() + stats.norm.logpdf(0.5)
    assert float(model.log_prob([0.5])) == pytest.approx(expected)
    assert np.asarray(observed).tolist() == [2.0, 4.0, 3.0]
    with pytest.raises(TypeError, match="is not data"):
        kg.observe(kg.random.normal(shape=3), kg.normal(phi, 1.0))


def test_a_likelihood_in_a_branch_is_refused():
    theta = kg.normal(0, 1)

    @kg.function
    def observed(mean):
        if mean > 0:
            kg.observe([1.0, 2.0], kg.normal(mean, 1))
        return mean

    with pytest.raises(kg.ModelError, match=r"made inside of a branch of cond .* state it outside"):
        observed(theta)
