"""A choice by name from a table."""

from collections.abc import Iterable, Mapping

from ..graph.suggestions import did_you_mean

__all__ = ["chosen", "name_advice"]

# Names in other libraries, with the names here.
_WORDS = {
    "gradient_descent": "gd gradientdescent sgd stochasticgradientdescent",
    "mean_squared": "l2 mean_squared_error mse squared_error squared_loss",
    "absolute_difference": "l1 mae mean_absolute_error",
    "log_loss": "bceloss",
    "categorical": (
        "cross_entropy crossentropy sparse_categorical_crossentropy nll_loss nllloss "
        "sparse_softmax_cross_entropy"
    ),
    "softmax_cross_entropy": "categorical_crossentropy categorical_cross_entropy",
    "sigmoid_cross_entropy": (
        "bce bcewithlogits binary_cross_entropy binary_crossentropy logistic"
    ),
    "gaussian": "gaussian_nll nll normal",
    "silu": "swish",
    "linear": "identity none",
    "sigmoid": "logistic",
    "tanh": "hyperbolic_tangent",
    "BAOAB": "langevin langevin_dynamics",
    "CCAdL": "covariancecontrolledadaptivelangevin",
    "GLA1": "geometriclangevinalgorithm_1storder",
    "GLA2": "geometriclangevinalgorithm_2ndorder",
    "HMC": (
        "hamiltonianmontecarlo hamiltonianmontecarlo_1storder hamiltonianmontecarlo_2ndorder "
        "hamiltonian_monte_carlo"
    ),
    "SGLD": "stochasticgradientlangevindynamics stochastic_gradient_langevin_dynamics",
    "SGHMC": "sgmcmc",
    "random": "shuffle",
    "cyclic": "none sequential",
    "batch": "parallel vmap",
    "glorot": "glorot_normal glorot_uniform xavier xavier_normal xavier_uniform",
    "he": "he_normal he_uniform kaiming kaiming_normal kaiming_uniform",
    "float32": "f32 fp32 single",
    "float64": "double f64 fp64",
}
_ADVICE = {
    "EQN": (
        "give covariance_blending=0.5 with number_walkers of at least 4: walkers then precondition "
        "any of the samplers"
    ),
    "softmax": (
        "it belongs to the loss: take loss='categorical' for class numbers, or "
        "loss='softmax_cross_entropy' for one-hot labels, with linear outputs"
    ),
}


def name_advice(name: str, names: Iterable[str]) -> str:
    """Advice on an unknown name, or an empty text."""
    there = list(names)
    if "tanh" in there or "BAOAB" in there:
        for word, advice in _ADVICE.items():
            if name.lower() == word.lower():
                return f"; {advice}"
    plain = name.lower().replace(" ", "_").replace("-", "_")
    for name_here, words in _WORDS.items():
        if name_here in there and {plain, plain.removesuffix("loss")} & {*words.split()}:
            return f"; here it is called {name_here!r}"
    return did_you_mean(name, there)


def chosen[Entry](table: Mapping[str, Entry], name: object, subject: str) -> Entry:
    """The entry with a name.

    Raises
    ------
    TypeError
        If the name is not a text.
    ValueError
        If the table does not have the name.
    """
    if not isinstance(name, str):
        raise TypeError(
            f"{subject}: expected a name, got {name!r:.60}; the names are {_list(table)}"
        )
    if name not in table:
        hint = f"{name_advice(name, table)}; the names are {_list(table)}"
        raise ValueError(f"{subject}: unknown name {name!r}{hint}")
    return table[name]


def _list(table: Mapping[str, object]) -> str:
    return ", ".join(table)
