"""The table of options of a simulation."""

import pytest

from kinetograph.neural.options import GROUPS, OPTIONS, check_options, options_text

REMAKES = {"data", "network", "model", "sampling", "training", "values", "nothing"}

WRONG = {
    "inverse_temperature": [0, -1.0, "hot", float("inf")],
    "friction_constant": [0, -1.0],
    "step_width": [0, None],
    "number_walkers": [0, 1.5],
    "covariance_blending": [-0.1],
    "every_nth": [0, True],
    "burn_in_steps": [-1],
    "max_steps": [-1, 1.5, 2**64],
    "batch_size": [0, 2.0],
    "seed": [-1, 2**63, 2**64, 2**1100],
    "sampler": ["BAOBA", 3],
    "optimizer": ["sgd"],
    "learning_rate": [0, "fast"],
    "loss": ["mean_square"],
    "loss_scale": [0, "total"],
    "hidden_dimension": [(3, -1), "x", 2.5],
    "hidden_activation": [("relu", "tnh")],
    "do_accumulates": [1, "yes"],
    "parse_steps": [(-1,)],
    "precision": ["float16"],
    "run_file": [3],
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_value_names_its_option(name):
    for value in WRONG[name]:
        with pytest.raises(ValueError, match=rf"^{name}: "):
            check_options({name: value})


def test_whole_numbers_have_a_largest():
    assert check_options({"seed": 2**63 - 1}) == {"seed": 2**63 - 1}
    with pytest.raises(ValueError, match=r"got 9223372036854775808; whole num.* below 2\*\*63$"):
        check_options({"seed": 2**63})


def test_an_unknown_name_suggests_the_nearest():
    with pytest.raises(AttributeError, match="'max_steps'"):
        check_options({"max_step": 3})


def test_values_get_their_types():
    given = {"hidden_dimension": [3, 0], "learning_rate": 1, "loss_scale": "sum", "parse_steps": 2}
    wanted = {
        "hidden_dimension": (3, 0),
        "learning_rate": 1.0,
        "loss_scale": "sum",
        "parse_steps": (2,),
    }
    assert check_options(given) == wanted


def test_the_table_is_consistent():
    for option in OPTIONS.values():
        assert option.group in GROUPS
        assert option.remakes in REMAKES
        assert option.text.endswith(".")
        checked = option.check(option.default)
        assert checked == option.default or checked == (option.default,)


def test_help_has_every_option():
    text = options_text()
    for option in OPTIONS.values():
        assert f"{option.name} ({option.default!r})" in text
        assert option.text in text
        assert option.expected in options_text(name=option.name)
