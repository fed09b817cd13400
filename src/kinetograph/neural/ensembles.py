"""The common part of the estimators of ensembles.

An ensemble trains and samples its members, standardises inputs, computes the outputs of all draws
for some rows at a time, and summarises convergence by predictions.
"""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import xarray as xr
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from ..calls.argument_names import WORDS
from ..graph.errors import ShapeError
from ..graph.public import public
from ..graph.source import warn_user
from ..results import diagnostics
from ..results.advice import SamplingWarning
from ..results.deviations import deviations
from ..results.summary import summary
from ..runs.arguments import check_whole
from ..samplers.sampler import Sampler
from .estimator_inputs import check_texts
from .losses import LOSSES, count_outputs
from .members import sample_members
from .network import Network, as_network, mlp
from .posterior import Prior, check_prior

__all__ = ["MemberEnsemble", "spread"]

ELEMENTS = 2**22  # the largest number of rows times draws whose outputs are in memory
MIXED = 1.2  # R-hat of predictions, above which members are said to disagree


@public
class MemberEnsemble(BaseEstimator):  # type: ignore[misc]
    """The common part of regression and classification."""

    _loss = "gaussian"
    _outputs_text = "2 outputs, a mean and a noise"

    def __init__(
        self,
        network: Any = (16, 16),
        *,
        activation: Any = "silu",
        members: int = 10,
        draws: int = 100,
        thin: int = 100,
        warmup: int = 10_000,
        prior: Prior = 1.0,
        sampler: Sampler | None = None,
        optimizer: Any = None,
        epochs: int = 2000,
        batch_size: int | None = 100,
        patience: int = 100,
        held_out: float = 0.1,
        seed: int = 0,
        progress: bool = False,
    ) -> None:
        self.network = network
        self.activation = activation
        self.members = members
        self.draws = draws
        self.thin = thin
        self.warmup = warmup
        self.prior = prior
        self.sampler = sampler
        self.optimizer = optimizer
        self.epochs = epochs
        self.batch_size = batch_size
        self.patience = patience
        self.held_out = held_out
        self.seed = seed
        self.progress = progress

    def _advice_on_call(self, method: str, word: str, values: tuple[Any, ...]) -> str:
        """Advice on a keyword of a call, for its message."""
        names = self._get_param_names()
        name = next((name for name in (word, *WORDS.get(word, ())) if name in names), None)
        if name is None or method == "__init__":
            return ""
        return f"it is a parameter of the estimator: {type(self).__name__}({name}=...)"

    def _fit(self, x: np.ndarray, y: np.ndarray, width: int) -> None:
        """Train and sample, with standardised inputs and labels of the loss."""
        self._check_settings(len(x))
        network = self._network()
        self.input_mean_, self.input_sd_ = x.mean(0), spread(x)
        x = self._inputs(x)
        self._check_outputs(network, x[0], width)
        order = np.random.default_rng(self.seed).permutation(len(x))
        validation_rows, rows = np.split(order, [round(self.held_out * len(x))])
        if not len(rows):
            raise ValueError(
                f"{type(self).__name__}: held_out={self.held_out!r} leaves none of the {len(x)} "
                f"rows for training; write a smaller part"
            )
        self.members_ = sample_members(
            network,
            LOSSES[self._loss],
            (x[rows], y[rows]),
            (x[validation_rows], y[validation_rows]),
            width,
            members=self.members,
            prior=self.prior,
            sampler=self.sampler,
            draws=self.draws,
            thin=self.thin,
            warmup=self.warmup,
            training={
                "optimizer": self.optimizer,
                "epochs": self.epochs,
                "batch_size": self.batch_size,
                "patience": self.patience,
            },
            seed=self.seed,
            progress=self.progress,
        )
        self.results_ = self.members_.results
        self.network_, self._probe = network, x[order[:50]]
        self._prepare()
        if self.members > 1 and self.draws >= 4:
            self._check_mixing()

    def _check_mixing(self) -> None:
        """Warn if members disagree at most of the rows examined."""
        values = self._function_values(self._outputs(self._probe))
        rhat = diagnostics.rhat(values)
        apart = ~(rhat <= MIXED)  # NaN, too
        if 2 * apart.sum() > len(apart):
            more = f"warmup={max(2 * self.warmup, 1000)} or thin={2 * self.thin}"
            if self.sampler is not None:
                more += ", or a larger step size of the sampler"
            elif isinstance(self.activation, str) and self.activation.startswith("relu"):
                more += ", or activation='silu'"
            warn_user(
                f"{type(self).__name__}: the predictions of members disagree: R-hat is above "
                f"{MIXED} at {apart.sum()} of {len(apart)} training rows, and its "
                f"maximum is {np.max(rhat):.2f}; the draws do not represent the posterior yet. "
                f"Take more steps, {more}; summary() has R-hat of each row",
                SamplingWarning,
            )

    def _network(self) -> Network:
        name, value = type(self).__name__, self.network
        if isinstance(value, (list, tuple)) and all(
            isinstance(w, (int, np.integer)) for w in value
        ):
            return mlp(value, self.activation)
        network = as_network(value, name)
        if network.noise is not None:
            raise ValueError(
                f"{name}: network: members of an ensemble are trained and sampled without "
                f"{network.noise}; give a network without it"
            )
        return network

    def _check_outputs(self, network: Network, row: np.ndarray, width: int) -> None:
        """Refuse a network with another number of outputs."""
        name = type(self).__name__

        def outputs() -> Any:
            return network.row(network.start(jax.random.key(0), row, width), row)

        got = count_outputs(outputs, name)
        if got != width:
            raise ShapeError(
                f"{name}: the network ({network.title}) must have "
                f"{self._outputs_text.format(width)}; got {got} output{'s' * (got != 1)}"
            )

    def _check_settings(self, rows: int) -> None:
        smallest = {"members": 1, "draws": 0, "thin": 1, "warmup": 0, "epochs": 1, "patience": 1}
        smallest["seed"] = 0
        if self.batch_size is not None:
            smallest["batch_size"] = 1
        check_whole(
            type(self).__name__, {name: (getattr(self, name), n) for name, n in smallest.items()}
        )
        if not isinstance(self.held_out, (int, float)) or not 0 <= self.held_out < 1:
            raise ValueError(
                f"{type(self).__name__}: held_out must be a part of the rows, at least 0 and below "
                f"1, got {self.held_out!r}"
            )
        check_prior(self.prior)
        if not (self.sampler is None or isinstance(self.sampler, Sampler)):
            raise TypeError(
                f"{type(self).__name__}: sampler must be a sampler, such as kg.samplers.MCLMC(), "
                f"got {self.sampler!r:.60}"
            )
        if not (self.optimizer is None or hasattr(self.optimizer, "update")):
            raise TypeError(
                f"{type(self).__name__}: expected optimizer=optax.adam(0.005) or another "
                f"transformation of optax, got {self.optimizer!r:.60}"
            )

    def _inputs(self, x: np.ndarray) -> np.ndarray:
        return ((x - self.input_mean_) / self.input_sd_).astype(np.float32)

    def _outputs(self, x: np.ndarray) -> np.ndarray:
        """The outputs of all draws, (members, draws, rows, width), for standardised inputs."""
        draws = self.members_.draws.astype(np.float32)
        outputs = self._compiled(draws.reshape(-1, draws.shape[-1]), x.astype(np.float32))
        return np.asarray(outputs, float).reshape(*draws.shape[:2], len(x), -1)

    def _prepare(self) -> None:
        """Compile the function that computes outputs with the fitted network."""
        layout, network = self.members_.layout, self.network_

        def of_draws(draws: Any, rows: Any) -> Any:
            return jax.lax.map(lambda w: network.outputs(layout.tree(w), rows), draws)

        self._compiled = jax.jit(of_draws)

    def __getstate__(self) -> Any:
        """The state without the compiled function, which cannot be pickled."""
        return {n: v for n, v in super().__getstate__().items() if n != "_compiled"}

    def __setstate__(self, state: Any) -> None:
        """Take a state of `__getstate__`."""
        super().__setstate__(state)
        if hasattr(self, "members_"):
            self._prepare()

    def _in_parts(self, X: Any, compute: Callable[..., tuple[Any, ...]], *by_row: Any) -> list[Any]:
        """Results for new rows, computed for some rows at a time.

        `compute` takes outputs, (draws of all members, rows, width), and the parts of `by_row`.
        """
        check_is_fitted(self, "members_")
        check_texts(X, type(self).__name__)
        x = validate_data(self, X, reset=False, dtype=float)
        draws = int(np.prod(self.members_.draws.shape[:2]))
        size = max(1, ELEMENTS // draws)
        parts = []
        for first in range(0, len(x), size):
            rows = slice(first, first + size)
            outputs = self._outputs(self._inputs(x[rows]))
            outputs = outputs.reshape(draws, *outputs.shape[2:])
            parts.append(compute(outputs, *(values[rows] for values in by_row)))
        return [np.concatenate(part) for part in zip(*parts, strict=True)]

    def summary(self) -> Any:
        """Convergence in function space: `kg.summary` of predictions at 50 training rows.

        Weights of different members lie in different modes, so their R-hat and effective sample
        sizes mean nothing. R-hat of predictions shows how well the chains agree.
        """
        check_is_fitted(self, "members_")
        if self.members_.results is None:
            raise ValueError("summary: nothing was sampled (draws=0)")
        values = self._function_values(self._outputs(self._probe))
        group = xr.Dataset({"prediction": (("chain", "draw", "row"), values)})
        return summary(xr.DataTree.from_dict({"posterior": group}))

    def _function_values(self, outputs: np.ndarray) -> np.ndarray:
        raise NotImplementedError


def spread(values: np.ndarray) -> Any:
    """Standard deviations, 1 where values are constant."""
    sd = deviations(values)
    return np.where(sd > 0, sd, 1.0)
