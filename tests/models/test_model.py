"""Models: densities, names, dims."""

import jax
import numpy as np
import pytest
from scipy import stats

import kinetograph as kg

RNG = np.random.default_rng(0)
X = RNG.normal(size=(20, 3))
Y = RNG.normal(size=20)


def regression():
    a = kg.normal(0, 10, name="a")
    b = kg.student(4, 0, 1, shape=3, name="b")
    sd = kg.half_cauchy(2, name="sd")
    y = kg.data(Y, name="y")
    kg.observe(y, kg.normal(a + kg.data(X, name="x") @ b, sd))
    return kg.model(a, b, sd)


def by_hand(u):
    a, b, sd = u[0], u[1:4], np.exp(u[4])
    total = stats.norm.logpdf(a, 0, 10) + stats.t.logpdf(b, 4).sum()
    total += stats.halfcauchy.logpdf(sd, 0, 2) + stats.norm.logpdf(Y, a + X @ b, sd).sum()
    return total, u[4]


def test_density_is_the_sum_by_hand():
    m = regression()
    assert m.names == ("a", "b", "sd")
    assert m.free_size == 5
    states = np.random.default_rng(1).normal(size=(4, 2, 5))
    got, plain = m.log_prob(states), m.log_prob(states, adjusted=False)
    assert got.shape == plain.shape == (4, 2)
    for place in np.ndindex(4, 2):
        total, jacobian = by_hand(states[place])
        assert plain[place] == pytest.approx(total, rel=1e-10)
        assert got[place] == pytest.approx(total + jacobian, rel=1e-10)
    slopes = m.gradient(states)
    assert slopes.shape == states.shape
    for i in range(5):
        h = np.zeros(5)
        h[i] = 1e-5
        wanted = (m.log_prob(states + h) - m.log_prob(states - h)) / 2e-5
        np.testing.assert_allclose(slopes[..., i], wanted, rtol=1e-6, atol=1e-6)
    values = m.transform(states)
    assert values["b"].shape == (4, 2, 3)
    one = {k: v[1, 1] for k, v in values.items()}
    np.testing.assert_allclose(m.untransform(one), states[1, 1], rtol=1e-10, atol=1e-10)
    assert repr(m) == (
        "<model of 3 unknowns, 5 free numbers: a, b (3,), sd; observed: y (20,); targets: a, b, sd>"
    )


def test_non_finite_densities_are_returned():
    x = kg.normal(0, 1)
    m = kg.model(x, factors=kg.log(x))
    assert np.isnan(m.log_prob([-1.0]))
    assert m.log_prob([0.0]) == -np.inf


def test_factors_are_added():
    x = kg.variable(shape=2)
    m = kg.model(x, factors=[-(x**2), x[0] * 3.0])
    np.testing.assert_allclose(m.log_prob([1.0, 2.0]), -5 + 3)


def test_two_models_share_an_unknown():
    mu = kg.normal(0, 1)
    first, second = kg.normal(mu, 1), kg.normal(mu, 2)
    one, two = kg.model(first), kg.model(second)
    assert one.names == ("mu", "first")
    assert two.names == ("mu", "second")
    wanted = stats.norm.logpdf(0.5) + stats.norm.logpdf(1.0, 0.5, 2)
    assert float(two.log_prob([0.5, 1.0])) == pytest.approx(wanted, rel=1e-12)


def test_targets_may_be_computed():
    mu = kg.normal(0, 1)
    m = kg.model(twice=2 * mu, mu=mu)
    assert m.target_names == ("twice", "mu")
    assert m.names == ("mu",)


def test_what_no_target_depends_on_is_left_out():
    mu = kg.normal(0, 1)
    below = kg.normal(mu, 1)
    unrelated = kg.normal(0, 1)
    y = kg.data(1.0)
    kg.observe(y, kg.normal(unrelated, 1))
    for target, names in ((mu, ("mu",)), (below, ("mu", "below"))):
        with pytest.warns(kg.KinetographWarning, match="no target depends on unrelated"):
            assert kg.model(target).names == names


def test_data_separate():
    x = kg.data([1.0, 2.0])
    a, b = kg.normal(0, 1), kg.normal(0, 1)
    y, z = kg.data([0.0, 0.0]), kg.data([1.0, 1.0])
    kg.observe(y, kg.normal(a * x, 1))
    kg.observe(z, kg.normal(b * x, 1))
    m = kg.model(a)
    assert m.names == ("a",)
    assert [m.name(n) for n in m.observed] == ["y"]
    w = kg.data(1.0)
    kg.observe(w, kg.normal(a + b, 1))
    joined = kg.model(a)
    assert joined.names == ("a", "b")
    assert {joined.name(n) for n in joined.observed} == {"y", "z", "w"}


# Names -------------------------------------------------------------------------------------------


def test_names():
    local = kg.normal(0, 1)
    named = kg.normal(local, 1, name="given")
    many = [kg.normal(named, 1), kg.normal(named, 1), kg.gamma(1, 1)]
    m = kg.model(*many, keyword=local)
    assert m.names == ("keyword", "given", "many_0", "many_1", "many_2")
    assert set(m.target_names) == {"keyword", "many_0", "many_1", "many_2"}
    m = kg.model(kg.normal(named, 1), kg.normal(named, 1), kg.gamma(1, 1), keyword=local)
    assert m.names == ("keyword", "given", "normal_1", "normal_2", "gamma_1")
    del named


def test_names_are_free_of_fallbacks():
    normal_1 = kg.normal(0, 1)
    assert kg.model(normal_1, kg.normal(0, 1) * 1.0, kg.normal(normal_1, 1)).names[0] == "normal_1"


shadowed = kg.normal(0, 1)


def test_a_local_variable_hides_a_global_one():
    outer = [shadowed_global()]
    shadowed = kg.normal(outer[0], 1)
    assert kg.model(shadowed).names == ("outer_0", "shadowed")


def shadowed_global():
    return shadowed


def test_one_name_for_two_arrays_is_an_error():
    a, b = kg.normal(0, 1, name="x"), kg.normal(0, 1, name="x")
    with pytest.raises(
        kg.ModelError,
        match=r"two arrays are named 'x': a \(written at test_model.py:\d+\) and b "
        r"\(written at test_model.py:\d+\); give one of them another name with name=",
    ):
        kg.model(a, b)


def test_a_variable_of_a_loop_leaves_its_name_to_a_target():
    level = kg.normal(0, 1)
    zs = [kg.normal(level, 1) for _ in range(3)]
    for z in zs:
        kg.observe(0.5, kg.normal(z, 1))
    all_of_them = kg.stack(zs)
    model = kg.model(z=all_of_them)
    assert model.name(all_of_them.node) == "z"
    assert {model.name(each.node) for each in zs} == {"zs_0", "zs_1", "zs_2"}
    with pytest.raises(kg.ModelError, match=r"two arrays are named 'level': .* another name with"):
        kg.model(level=2 * level, z=zs[0])


def test_one_name_in_a_loop_has_a_way_out():
    z = []
    for i in range(3):
        z.append(kg.normal(0, 1, name="z"))
        kg.observe(i, kg.normal(z[i], 1))
    with pytest.raises(
        kg.ModelError,
        match=r"two arrays are named 'z': an unknown .* and an unknown .*; in a loop, give each a "
        r'name of its own, such as name=f"z_\{i\}", or leave name= out; or write one array with',
    ):
        kg.model(sum=kg.stack(z).sum())


def test_codes_of_two_columns_of_one_group_have_a_way_out():
    """The second codes are made by `encode` of the first groups."""

    def build(second):
        home = kg.groups(["x", "y", "z"], "team")
        away = second(home)
        skill = kg.normal(0, 1, dims=home.dim, name="skill")
        kg.observe([1, 2, 0], kg.poisson(kg.exp(skill[home.codes] - skill[away])))
        return skill

    away = ["y", "z", "x"]
    with pytest.raises(kg.ModelError, match=r"write first\.encode\(values\)"):
        kg.model(lambda: build(lambda _: kg.groups(away, "team").codes))
    assert kg.model(lambda: build(lambda home: home.encode(away))).free_size == 3


def test_model_without_targets_takes_the_unknowns_in_scope():
    a = kg.normal(0, 1)
    b = kg.gamma(1, 1)
    y = kg.data(0.5)
    likelihood = kg.normal(a, b)
    kg.observe(y, likelihood)
    assert kg.model().names == ("a", "b")


# Dims --------------------------------------------------------------------------------------------


def test_dims_pass_through():
    school = kg.data([0, 1, 1, 0], dims="pupil")
    effect = kg.normal(0, 1, shape=2, dims="school")
    x = kg.data(np.ones(4), dims="pupil")
    m = kg.model(
        effect=effect, mean=effect[school] * x + 1, table=effect[:, None] * x, s=effect.sum()
    )
    dims = {n: m.dims(node) for n, node in zip(m.target_names, m.targets)}
    assert dims["effect"] == ("school",)
    assert dims["mean"] == ("pupil",)
    assert dims["table"][1] == "pupil"
    assert dims["s"] == ()


def test_labels_of_xarray_and_pandas():
    pd = pytest.importorskip("pandas")
    xr = pytest.importorskip("xarray")
    y = kg.data(xr.DataArray([1.0, 2.0], dims="city", coords={"city": ["Oslo", "Bonn"]}))
    x = kg.data(pd.Series([3.0, 4.0], index=pd.Index(["Oslo", "Bonn"], name="city")))
    b = kg.normal(0, 1)
    kg.observe(y, kg.normal(b * x, 1))
    m = kg.model(b, mean=b * x)
    assert list(m.coords["city"]) == ["Oslo", "Bonn"]
    assert m.dims(m.targets[1]) == ("city",)
    other = kg.model(b, coords={"city": ["a", "b"]})
    assert list(other.coords["city"]) == ["a", "b"]
    z = kg.data(xr.DataArray([1.0, 2.0], dims="city", coords={"city": ["Oslo", "Rome"]}))
    kg.observe(z, kg.normal(b, 1))
    with pytest.raises(kg.DimsError, match=r"two data arrays have different labels for .*'city'"):
        kg.model(b)


def test_dims_conflicts():
    a = kg.normal(0, 1, shape=3, dims="row")
    b = kg.normal(0, 1, shape=3, dims="column")
    with pytest.raises(kg.DimsError, match=r"a \+ b .*axis 0 is 'row' in one array and 'column'"):
        kg.model(a + b)
    c = kg.normal(0, 1, shape=2, dims="row")
    with pytest.raises(kg.DimsError, match="dimension 'row' has length 3 in a and 2 in c"):
        kg.model(a, c)
    with pytest.raises(kg.DimsError, match="dimension 'row' has length 2 in its labels and 3 in a"):
        kg.model(a, coords={"row": ["x", "y"]})
    with pytest.raises(kg.DimsError, match="name 2 axes, but the shape"):
        kg.normal(0, 1, shape=3, dims=("row", "column"))


# Debugging ---------------------------------------------------------------------------------------


def test_debug_names_the_first_bad_value():
    x = kg.normal(0, 1)
    y = kg.data([1.0, 2.0])
    sd = kg.log(x - 1.0)
    kg.observe(y, kg.normal(x, sd))
    report = kg.model(x).debug({"x": 0.5})
    assert [t.name for t in report.terms] == ["x", "y"]
    assert [t.name for t in report.bad_terms] == ["y"]
    line = test_debug_names_the_first_bad_value.__code__.co_firstlineno + 3
    assert report.first_bad == f"sd = nan  test_model.py:{line}"
    text = str(report)
    assert text.startswith("log density nan\n  x")
    assert "normal(x, sd)  test_model.py" in text
    assert "<- not finite (2 of 2 elements)" in text
    assert "sd sd = nan" in text
    assert "value y = shape (2,), from 1 to 2" in text
    assert kg.model(x).debug([2.5]).first_bad is None


def test_debug_where_only_a_term_is_bad():
    x = kg.normal(0, 1)
    y = kg.data(1.0)
    kg.observe(y, kg.normal(0, x))
    report = kg.model(x).debug([-1.0])
    assert report.first_bad.startswith("log density of y = nan  test_model.py:")


def test_debug_at_an_overflowing_unknown():
    s = kg.lognormal(0, 1)
    report = kg.model(s, factors=-s).debug([800.0])
    assert report.first_bad.startswith("s = inf  test_model.py:"), report.first_bad
    with pytest.raises(kg.ShapeError, match=r"has 1 number \(s 1\), got shape \(2,\)"):
        kg.model(s).debug([1.0, 2.0])


def test_debug_names_the_operation_whose_derivative_is_bad():
    x = kg.normal(0, 1)
    centre = kg.sqrt(x * x)
    y = kg.data([1.0, 2.0])
    kg.observe(y, kg.normal(centre, 1.0))
    report = kg.model(x).debug({"x": 0.0})
    assert report.bad_terms == []
    assert report.first_bad.startswith("the derivative of centre by x * x = inf  test_model.py:")


@pytest.mark.slow
def test_debug_of_a_healthy_solver_blames_nothing():
    rate = kg.normal(0, 1)
    steps = kg.ode.solve(lambda t, v: -rate * v, 1.0, [0.0, 1.0])
    y = kg.data(0.7)
    kg.observe(y, kg.normal(steps[-1], 0.1))
    assert kg.model(rate).debug({"rate": 0.3}).first_bad is None


def test_values_by_name_are_a_point():
    s = kg.half_normal(1)
    model = kg.model(s)
    free = model.untransform({"s": 2.0})
    for function in (model.log_prob, model.gradient, model.hessian):
        np.testing.assert_array_equal(function({"s": 2.0}), function(free))
    assert model.transform({"s": 2.0})["s"] == pytest.approx(2.0)
    with pytest.raises(kg.ModelError, match="'t' is not an unknown of this model"):
        model.log_prob({"t": 1.0})


def test_what_is_no_point():
    s = kg.half_normal(1)
    model = kg.model(s)
    text = r"has 1 number \(s 1\); give it as an array, .* dictionary of values by name; got 'one'"
    for function in (model.log_prob, model.gradient, model.transform, model.debug):
        with pytest.raises(TypeError, match=text):
            function("one")
    with pytest.raises(TypeError, match="s: expected a number, got 'one'"):
        model.untransform({"s": "one"})
    with pytest.raises(TypeError, match="s: values are looked at, and JAX is tracing this one"):
        jax.jit(lambda v: model.log_prob({"s": v}))(1.0)


def test_a_list_of_what_jax_traces_is_a_free_state():
    s = kg.half_normal(1)
    model = kg.model(s)
    gradient = jax.grad(lambda v: model.log_prob([v]))(0.5)
    np.testing.assert_allclose(gradient, model.gradient([0.5])[0], rtol=1e-6)


def test_where_an_index_is_outside_the_gradient_is_nan_with_the_density():
    x, s = kg.normal(0, 1, shape=3, name="x"), kg.normal(0, 1, name="s")
    kg.observe(kg.data([1.0]), kg.normal(x[kg.floor(s).astype("int64")], 1.0))
    model = kg.model(x, s)
    np.testing.assert_allclose(model.gradient([0.1, 0.2, 0.3, 1.5]), [-0.1, 0.6, -0.3, -1.5])
    assert np.isnan(model.log_prob([0.1, 0.2, 0.3, 7.5]))
    assert np.isnan(model.gradient([0.1, 0.2, 0.3, 7.5])).all()


def test_matrices_and_orders_as_unknowns():
    """Values lie inside their supports, and their forms are used downstream."""
    free = np.random.default_rng(5).normal(size=(20, 3)) * 2
    factor = kg.cholesky_variable(2, name="factor")
    kg.observe([[0.3, -0.2]], kg.multivariate_normal([0.0, 0.0], chol=factor))
    values = kg.model(factor).transform(free)["factor"]
    assert (values[:, 0, 1] == 0).all()
    assert (np.diagonal(values, axis1=-2, axis2=-1) > 0).all()
    cov = kg.covariance_variable(2, name="cov")
    kg.observe([[0.3, -0.2]], kg.multivariate_normal([0.0, 0.0], cov))
    model = kg.model(cov)
    values = model.transform(free)["cov"]
    assert (np.linalg.eigvalsh(values) > 0).all()
    jacobian = 2 * np.log(2) + free[:, [0, 2]] @ [3.0, 2.0]
    density = [stats.multivariate_normal([0, 0], c).logpdf([0.3, -0.2]) for c in values]
    np.testing.assert_allclose(model.log_prob(free), density + jacobian, rtol=1e-9, atol=1e-9)
    R = kg.correlation_variable(3, shape=2, name="R")
    assert R.shape == (2, 3, 3)
    levels = kg.ordered_variable(3, positive=True, name="levels")
    kg.observe(1.0, kg.normal(levels[0], 1))
    values = kg.model(levels).transform(free)["levels"]
    assert (values[:, 0] > 0).all()
    assert (np.diff(values) > 0).all()
