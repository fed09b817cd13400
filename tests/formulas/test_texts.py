"""Formulas split into their parts."""

import pytest

from kinetograph.formulas.texts import split_formula


def parts(text):
    split = split_formula(text)
    return (
        split.response,
        split.population,
        list(map(str, split.groups)),
        [call.text for call in split.calls],
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("y ~ 1", ("y", "1", [], [])),
        ("y ~ x*z - 1", ("y", "x*z - 1", [], [])),
        ("y~-1+x", ("y", "- 1 + x", [], [])),
        ("y ~ 0 + x + (1|g)", ("y", "0 + x", ["(1 | g)"], [])),
        ("log(y) ~ (1 + x || a/b) + z", ("log(y)", "z", ["(1 + x || a/b)"], [])),
        ("y ~ (a + b)**2 + (0 + x | g)", ("y", "(a + b)**2", ["(0 + x | g)"], [])),
        ("y ~ offset(log(e)) + mo(i) + gp(x, k=5) + x + s(z)", (
            "y", "`mo(i)` + x", [], ["offset(log(e))", "gp(x, k=5)", "s(z)"],
        )),
        ("y ~ mo( i ) * z - (z+mo(j)) ** 2", ("y", "`mo(i)` * z - (z+`mo(j)`) ** 2", [], [])),
        ("y ~ mo(i)+mo(j):`odd name` - 1", ("y", "`mo(i)` + `mo(j)`:`odd name` - 1", [], [])),
        ("y ~ `odd (name|x)` + {x / 2}", ("y", "`odd (name|x)` + {x / 2}", [], [])),
    ],
)  # fmt: skip
def test_parts(text, expected):
    assert parts(text) == expected


def test_additions_of_the_response():
    split = split_formula("y | trials(n) + weights(w) ~ x")
    assert split.response == "y"
    assert {name: call.positional for name, call in split.additions.items()} == {
        "trials": ("n",),
        "weights": ("w",),
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x + z", "must have one response and one '~'"),
        ("~ x", "must have one response and one '~'"),
        ("y ~ ", "has no terms"),
        ("y ~ x | g", "has a '|' outside of a summand of its own"),
        ("y ~ x * (1 | g)", "has a '|' outside of a summand of its own"),
        ("y ~ x - (1 | g)", r"subtracts \(1 \| g\)"),
        ("y ~ z:gp(x)", r"gp\(x\) in .* must be a summand of its own.*gp\(x, by=z\)"),
        ("y ~ s(x) * z", r"must be a summand of its own.*s\(x, by=z\)"),
        ("y ~ ns(x)", "natural cubic splines are cr"),
        ("y | trails(n) ~ x", "did you mean 'trials'"),
        ("y ~ (1 | g | h)", "must have effects and one group"),
        ("y ~ 'x", "cannot be read"),
        ("y ~ as.factor(x)", r"a column of numbers as categories is C\(x\)"),
        ("y ~ x +", r"a term is missing between '\+' and the end of 'y ~ x \+' \(test_texts.py:"),
        ("y ~ - ", "a term is missing between '-' and the end"),
        ("y ~ s(x) + z:", "a term is missing between ':' and the end"),
        ("y + ~ x", r"a term is missing between '\+' and '~' in"),
        ("y | ~ x", r"a term is missing between '\|' and '~' in"),
        ("y ~ x + {z", r"cannot be read \(test_texts.py:\d+\): [^\x1b\n]+$"),
    ],
)
def test_what_cannot_be_read(text, message):
    with pytest.raises(ValueError, match=message):
        split_formula(text)
