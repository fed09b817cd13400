"""Labels of a cross-validation are combined with the data by position."""

import warnings

import numpy as np
import pandas as pd
import pytest

import kinetograph as kg
from kinetograph.prediction.kfold import kfold
from kinetograph.prediction.observations import Observations

FRAME = pd.DataFrame({"y": np.linspace(-1, 1, 8), "x": np.arange(8) % 3, "g": list("abcdabcd")})
NAMED = FRAME.set_index(pd.Index([f"r{i}" for i in range(8)]))


def arrays(frame=FRAME):
    a = kg.normal(0, 1, name="a")
    kg.observe(kg.data(frame["y"], name="y"), kg.normal(a, 1))
    return kg.model(a)


def formula(frame=FRAME):
    return kg.formula("y ~ x", frame)


@pytest.mark.parametrize("frame", [FRAME, NAMED], ids=["numbered", "named"])
@pytest.mark.parametrize("make", [arrays, formula])
def test_labels_in_another_order_are_warned_of(make, frame):
    model, labels = make(frame), frame["g"].sort_values()
    said = (
        r"loo: by= is a pandas object whose index has the same labels in another order, compared "
        r"with y \(.*\): row 1 is r?4 in by= and r?1 in the data.*x\.loc\[y\.index\]"
    )
    with pytest.warns(kg.KinetographWarning, match=said):
        Observations("loo", model, by=labels)
    with pytest.warns(kg.KinetographWarning, match=said):
        Observations("loo", model, by=kg.data(labels.map(ord)))
    numbers = pd.Series(np.arange(8), frame.index).sample(frac=1, random_state=1)
    # Folds that cannot be used end the call before it samples.
    with (
        pytest.warns(kg.KinetographWarning, match=r"kfold: folds= .* in another order"),
        pytest.raises(ValueError, match="fold 3 has none"),
    ):
        kfold(model, folds=numbers.where(numbers != 3, 4))


@pytest.mark.parametrize("make", [arrays, formula])
def test_labels_of_the_same_rows_are_not_warned_of(make):
    model, g = make(), FRAME["g"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for by in (g, g.sort_values().sort_index(), g.sort_values().to_numpy(), list(g)):
            Observations("loo", model, by=by)
        if make is arrays:  # the data no longer have these labels
            model.set_data(y=FRAME["y"][::-1].to_numpy())
            Observations("loo", model, by=g[::-1])


def test_folds_of_groups_have_no_rows_of_the_data():
    folds = pd.Series([0, 1, 3, 3], [3, 2, 1, 0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match="fold 2 has none"):
            kfold(arrays(), by=FRAME["g"], folds=folds)
