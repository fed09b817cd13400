"""Advice on divergences names the unknown, its form, its scale, and the line to write."""

import numpy as np
import pytest
import xarray as xr
from tests.models.test_hierarchies import centred, non_centred, regression, running_sum

import kinetograph as kg
from kinetograph.results.chosen_forms import chosen_forms, chosen_precisions, forms_text
from kinetograph.results.reparametrisation import other_form, recorded_hierarchies, remedy
from kinetograph.results.transitions import _divergences


def results(build, large=False, recorded=True):
    """100 draws in 2 chains, 20 of which diverge: at the smallest or the largest tau."""
    tau = np.random.default_rng(1).permutation(100).reshape(2, 50)
    tau = tau.astype(float)
    diverging = tau >= 80 if large else tau < 20
    groups = {
        "posterior": xr.Dataset({"tau": (("chain", "draw"), tau)}),
        "sample_stats": xr.Dataset({"diverging": (("chain", "draw"), diverging)}),
    }
    tree = xr.DataTree.from_dict(groups)
    if recorded:
        tree.attrs.update(recorded_hierarchies(kg.model(build)))
    return tree


@pytest.mark.parametrize(
    ("build", "large", "text"),
    [
        (
            centred,
            False,
            "theta is centred, theta ~ normal(mu, tau), with the unknown scale tau, which is small "
            "in most of these draws: write theta = mu + tau * kg.normal(0, 1, shape=3), use",
        ),
        (
            non_centred,
            True,
            "z is non-centred already, tau * z, and tau is large in most of these draws: use a "
            "tighter prior of tau, the centred form kg.normal(mu, tau, shape=3) if the data",
        ),
        (non_centred, False, "z is non-centred already, tau * z: use a tighter prior of tau,"),
        (
            running_sum,
            False,
            "z is non-centred already, tau * z: use a tighter prior of tau, the series as one "
            "unknown, kg.random_walk(sd, n) or kg.ar(rho, sd, n), which is sampled given the data",
        ),
        (regression, False, "all draws. Use tighter priors, or smaller steps"),
    ],
)
def test_the_advice_knows_the_form(build, large, text):
    (advice,) = _divergences(results(build, large))
    assert text in advice.message
    assert advice.message.endswith("kg.samplers.NUTS(target_acceptance=0.95).")


def long_scale():
    tau, length = kg.half_normal(1), kg.half_normal(1)
    process = kg.gp.Hilbert(kg.gp.matern52(length, tau), np.arange(9.0), basis=4, name="z")
    kg.observe(np.zeros(9), kg.normal(process.values, 1))
    return tau, length


def test_a_form_that_cannot_be_written_is_not_advised():
    tree = results(long_scale)
    text = other_form(tree, {"tau"})
    assert "..." not in text
    assert text.startswith("z is non-centred; the centred form mixes better if the data say much")
    assert text.endswith("the warm-up of kg.samplers.NUTS(parametrisation='auto') chooses a form. ")
    (advice,) = _divergences(tree)
    assert "..." not in advice.message
    assert "the centred form if the data say much about each element" in advice.message


def test_the_steps_of_a_series_are_not_advised_in_the_centred_form():
    text = other_form(results(running_sum), {"tau"})
    assert text.startswith("z has the steps of a series: write the series as one unknown, kg.rand")


def test_results_without_the_attribute():
    (advice,) = _divergences(results(centred, recorded=False))
    assert "a hierarchy often wants theta = mu + tau * z" in advice.message


def test_a_run_records_the_hierarchies():
    tree = kg.mcmc(kg.model(centred), draws=2, warmup=2, chains=1, seed=1, progress=False)
    assert '"unknown": "theta"' in tree.attrs["hierarchies"]
    assert "hierarchies" not in kg.report(tree).html


def test_chains_that_do_not_mix_ask_for_the_other_form():
    tree = results(centred)
    text = other_form(tree, {"tau"})
    assert text == (
        "theta is centred, theta ~ normal(mu, tau), with the unknown scale tau: write "
        "theta = mu + tau * kg.normal(0, 1, shape=3); the warm-up of "
        "kg.samplers.NUTS(parametrisation='auto') chooses a form. "
    )
    assert other_form(tree, {"theta"}) == text
    assert other_form(tree, {"beta"}) == ""
    assert "the centred form kg.normal(mu, tau, shape=3)" in other_form(results(non_centred), {"z"})
    assert other_form(results(regression), {"beta"}) == ""


def test_forms_that_warm_up_has_chosen_are_not_advised():
    tree = kg.mcmc(kg.model(centred), draws=4, warmup=2, chains=2, seed=1, progress=False)
    assert list(chosen_forms(tree)) == ["theta"]
    assert chosen_forms(tree)["theta"].shape == (2, 3)
    assert other_form(tree, {"tau"}) == ""
    assert remedy(tree) == "Use tighter priors, or"
    first, *_ = kg.diagnose(tree, forms=True)
    assert (first.kind, first.count) == ("forms", 3)
    # The warm-up was too short for a choice.
    assert first.message.endswith("(c = 1: centred, 0: non-centred): theta: centred")
    assert "theta: centred" in kg.report(tree).html
    assert "forms" not in {each.kind for each in kg.diagnose(tree)}


def test_where_no_form_is_chosen_the_other_one_is_advised():
    """An index stands between the unknown and its scales."""
    sd, z = kg.half_normal(1, shape=2, name="sd"), kg.normal(0, 1, shape=2, name="z")
    group = np.array([0, 0, 1, 1])
    kg.observe(np.zeros(4), kg.normal(sd[group] * z[group], 1), name="y")
    tree = kg.mcmc(kg.model(sd, z), draws=4, warmup=2, chains=2, seed=1, progress=False)
    assert chosen_forms(tree) == {}
    assert kg.diagnose(tree, forms=True) == kg.diagnose(tree)
    assert other_form(tree, {"sd"}).endswith("if the data say much about each element. ")


def test_coordinates_of_vectors_are_told():
    def walk():
        sd = kg.half_normal(1, name="sd")
        x = kg.random_walk(sd, 3, name="x")
        kg.observe([1.0, 2.0, 3.0], kg.student(3, x, 1))
        return sd, x

    tree = kg.mcmc(kg.model(walk), draws=4, warmup=2, chains=2, seed=1, progress=False)
    first, *_ = kg.diagnose(tree, forms=True)
    assert (first.kind, first.count) == ("forms", 3)
    assert first.message.endswith("x: as written")
    assert chosen_precisions(tree)["x"].shape == (2, 3)
    tree["sampler_state"]["hyper_information"].values[:, 0] = [[0.5, 1.0, 2.0], [-1.0] * 3]
    assert forms_text(tree) == "x: given data of precision 0.5 to 2 in 1 of 2 chains"
    tree["sampler_state"]["hyper_information"].values[1, 0] = 0.25
    assert "x: given data of precision 0.25 to 2" in kg.report(tree).html


def test_unknowns_that_are_sampled_together_are_told():
    def build():
        a, sd = kg.normal(0, 1, name="a"), kg.half_normal(1, name="sd")
        z = kg.normal(0, 1, shape=3, name="z")
        kg.observe([1.0, 2.0, 3.0], kg.normal(a + (sd * z)[np.arange(3)], 1), name="y")
        return a, sd, z

    tree = kg.mcmc(kg.model(build), draws=4, warmup=2, chains=2, seed=1, progress=False)
    assert forms_text(tree) == "z: non-centred"
    information = tree["sampler_state"]["hyper_joint"]
    assert information.shape == (2, 5, 4)
    information.values[0, 0, 0] = 1.5
    assert forms_text(tree) == "z: non-centred, a and z: together in 1 of 2 chains"
    information.values[1, 0, 0] = 0.0
    assert forms_text(tree) == "a and z: together"
    assert "a and z: together" in kg.report(tree).html
    information.attrs["unknowns"] = '["z"]'
    assert forms_text(tree) == "z: together"


def test_the_forms_of_many_unknowns_are_shortened():
    def build():
        sd = kg.half_normal(1, name="sd")
        x = [kg.normal(0, sd, name=f"x{i}") for i in range(13)]
        kg.observe(np.ones(13), kg.normal(kg.stack(x), 1), name="y")
        return sd

    tree = kg.mcmc(kg.model(build), draws=4, warmup=2, chains=2, seed=1, progress=False)
    text = forms_text(tree)
    assert text.count(":") == 10
    assert text.endswith(", and 3 more")
