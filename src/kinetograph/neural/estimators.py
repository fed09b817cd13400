"""`kg.neural.ensemble`: members that are trained and then sampled, as scikit-learn's estimators.

Each member starts from different parameters, is trained until the loss on rows held out stops
falling, and is then one chain of a sampler that begins at the trained point. Predictions average
over the draws of all members. So the ensemble covers several modes, and the chains the surroundings
of each.

Source: E. Sommer et al., Microcanonical Langevin ensembles (MILE), arXiv:2502.06335.
"""

from typing import Any, Literal

import numpy as np
from scipy.special import logsumexp, ndtr, softmax
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from ..graph.errors import DataError
from ..graph.public import public
from .ensembles import MemberEnsemble, spread
from .estimator_inputs import check_numbers, check_texts, labels_of, numbers_of

__all__ = ["EnsembleClassifier", "EnsembleRegressor", "ensemble"]

_LOG_2_PI = float(np.log(2 * np.pi))


@public
class EnsembleRegressor(RegressorMixin, MemberEnsemble):  # type: ignore[misc]
    """A deep ensemble with MCMC for regression, with learnt noise.

    The network has two outputs, m(x, w) and s(x, w), of standardised inputs and
    labels:

        y | x, w ~ normal(m, log(1 + exp(s))),   p(y | x) = mean over members and draws

    Parameters
    ----------
    network
        Anything that `kg.neural.network` takes; widths of hidden layers make a perceptron.
    activation
        The activation of a network that is given by widths. Smooth activations such as "silu" mix
        much better than "relu".
    members
        The number of members.
    draws, thin, warmup
        The draws kept of each member, the steps between them, and the steps before the first. With
        draws=0 the result is a deep ensemble without sampling.
    prior
        The standard deviation of the normal prior of the parameters, or a JAX function of their
        tree that returns the log density.
    sampler
        A sampler of `kg.samplers`; by default `MCLMC` with two gradients for each step. Its step
        size is tuned for each member during the warm-up: it begins large and ends small.
    optimizer, epochs, batch_size, patience, held_out
        For the training: an optax transformation (Adam), the largest number of epochs, the rows of
        a batch, the epochs without improvement that end it, and the part of rows held out for that.
        The sampler uses all rows.
    seed
        A whole number.
    progress
        Whether to show the progress of sampling.

    Attributes
    ----------
    results_
        The results of `kg.mcmc`, one chain for each member.
    members_
        Training and draws.

    Examples
    --------
    >>> import numpy as np, kinetograph as kg
    >>> x = np.linspace(-2, 2, 60)[:, None]
    >>> y = np.sin(2 * x[:, 0]) + 0.1 * np.random.default_rng(1).normal(size=60)
    >>> model = kg.neural.EnsembleRegressor((8,), members=2, draws=20, thin=5, epochs=300)
    >>> model = model.fit(x, y)
    >>> model.predict(x).shape, model.score(x, y) > 0.5
    ((60,), True)

    Source: E. Sommer et al., arXiv:2502.06335; B. Lakshminarayanan et al., NeurIPS 2017.
    """

    def fit(self, X: Any, y: Any) -> "EnsembleRegressor":
        """Train and sample.

        Raises
        ------
        ValueError
            If a setting is out of its range, or rows of inputs and labels differ.

        Warns
        -----
        SamplingWarning
            If the predictions of members disagree, by R-hat at 50 training rows.
        """
        check_texts(X, "EnsembleRegressor")
        check_numbers(y)
        X, y = validate_data(self, X, y, dtype=float, y_numeric=True)
        self.label_mean_, self.label_sd_ = float(y.mean()), float(spread(y))
        labels = ((y - self.label_mean_) / self.label_sd_)[:, None].astype(np.float32)
        self._fit(X, labels, 2)
        return self

    def _function_values(self, outputs: np.ndarray) -> np.ndarray:
        return outputs[..., 0] * self.label_sd_ + self.label_mean_

    def _normals(self, outputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Means and standard deviations of all draws, (draws of all members, rows)."""
        mean = outputs[..., 0] * self.label_sd_ + self.label_mean_
        return mean, np.logaddexp(0, outputs[..., 1]) * self.label_sd_

    def predict(self, X: Any, return_std: bool = False) -> Any:
        """The predictive means of rows, and with `return_std` their standard deviations."""

        def moments(outputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            mean, sd = self._normals(outputs)
            return mean.mean(0), np.sqrt((sd**2).mean(0) + mean.var(0))

        mean, sd = self._in_parts(X, moments)
        return (mean, sd) if return_std else mean

    def predict_interval(self, X: Any, probability: float = 0.9) -> np.ndarray:
        """The central predictive interval of each row, (rows, 2).

        Its ends are quantiles of the mixture over members and draws, found by bisection.

        Raises
        ------
        ValueError
            If the probability is not between 0 and 1.
        """
        number = isinstance(probability, (int, float, np.number))
        if not number or not 0 < probability < 1:
            raise ValueError(
                f"predict_interval: probability must be a number between 0 and 1, got "
                f"{probability!r:.60}"
            )

        def ends(outputs: np.ndarray) -> tuple[np.ndarray]:
            mean, sd = self._normals(outputs)
            tail = 0.5 * (1 - probability)
            return (np.stack([_quantile(mean, sd, level) for level in (tail, 1 - tail)], 1),)

        (intervals,) = self._in_parts(X, ends)
        return np.asarray(intervals)

    def cdf(self, X: Any, y: Any) -> np.ndarray:
        """The predictive distribution function at each label.

        The values are uniform if the predictions are calibrated; see
        `kg.neural.calibration.coverage`.
        """

        def chance(outputs: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray]:
            mean, sd = self._normals(outputs)
            return (ndtr((labels - mean) / sd).mean(0),)

        (chances,) = self._in_parts(X, chance, numbers_of(X, y, "cdf"))
        return np.asarray(chances)

    def log_score(self, X: Any, y: Any) -> np.ndarray:
        """The log predictive density of each label."""

        def score(outputs: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray]:
            mean, sd = self._normals(outputs)
            z = (labels - mean) / sd
            densities = -0.5 * z * z - np.log(sd) - 0.5 * _LOG_2_PI
            return (np.asarray(logsumexp(densities, 0) - np.log(len(densities))),)

        (scores,) = self._in_parts(X, score, numbers_of(X, y, "log_score"))
        return np.asarray(scores)


@public
class EnsembleClassifier(ClassifierMixin, MemberEnsemble):  # type: ignore[misc]
    """A deep ensemble with MCMC for classification.

        p(class | x) = mean over members and draws of softmax(outputs(x, w))

    It takes the parameters of `EnsembleRegressor` and has its attributes. `classes_` are the
    labels.

    Examples
    --------
    >>> import numpy as np, kinetograph as kg
    >>> x = np.random.default_rng(1).normal(size=(80, 2))
    >>> y = np.where(x[:, 0] * x[:, 1] > 0, "same", "other")
    >>> model = kg.neural.EnsembleClassifier((8,), members=2, draws=20, thin=5, epochs=300)
    >>> model = model.fit(x, y)
    >>> model.predict_proba(x).shape, model.score(x, y) > 0.8
    ((80, 2), True)
    """

    _loss = "categorical"
    _outputs_text = "{} outputs, one for each class of the labels"

    def fit(self, X: Any, y: Any) -> "EnsembleClassifier":
        """Train and sample.

        Raises
        ------
        DataError
            If there is only one class.
        ValueError
            If a setting is out of its range, or rows of inputs and labels differ.
        """
        check_texts(X, "EnsembleClassifier")
        X, y = validate_data(self, X, y, dtype=float)
        try:
            self.classes_, codes = np.unique(y, return_inverse=True)
        except TypeError:
            kinds = sorted({type(label).__name__ for label in y})
            raise DataError(
                f"EnsembleClassifier: labels of different types: {', '.join(kinds)}"
            ) from None
        check_classification_targets(y)
        if len(self.classes_) < 2:
            label = self.classes_.tolist()[0]
            raise DataError(f"EnsembleClassifier: all labels are {label!r}, one class")
        self._fit(X, codes[:, None].astype(np.float32), len(self.classes_))
        return self

    def _function_values(self, outputs: np.ndarray) -> np.ndarray:
        return np.asarray(softmax(outputs, -1)[..., 1])

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probabilities of the classes, (rows, classes)."""
        (chances,) = self._in_parts(X, lambda outputs: (softmax(outputs, -1).mean(0),))
        return np.asarray(chances)

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of each row."""
        check_is_fitted(self, "members_")
        return np.asarray(self.classes_[self.predict_proba(X).argmax(1)])

    def log_score(self, X: Any, y: Any) -> np.ndarray:
        """The log probability of each label."""
        check_is_fitted(self, "members_")
        labels = labels_of(X, y)
        unknown = sorted(set(labels.tolist()) - set(self.classes_.tolist()), key=str)
        if unknown:
            raise DataError(
                f"log_score: {unknown[0]!r} is not one of the classes, "
                f"{', '.join(map(str, self.classes_))}"
            )
        places = np.searchsorted(self.classes_, labels)
        return np.asarray(np.log(self.predict_proba(X)[np.arange(len(places)), places]))


@public
def ensemble(
    network: Any,
    data: tuple[Any, Any],
    *,
    kind: Literal["regression", "classification"] | None = None,
    **settings: Any,
) -> Any:
    """Fit an ensemble of networks whose members are trained and then sampled.

    Parameters
    ----------
    network
        Anything that `kg.neural.network` takes.
    data
        Inputs and labels.
    kind
        "regression" or "classification"; by default classification if the labels are texts,
        booleans or whole numbers with at most 20 different values.
    **settings
        Parameters of `EnsembleRegressor`.

    Returns
    -------
    EnsembleRegressor or EnsembleClassifier
        Fitted.

    Examples
    --------
    >>> import numpy as np, kinetograph as kg
    >>> x = np.linspace(-1, 1, 40)[:, None]
    >>> fitted = kg.neural.ensemble((4,), (x, x[:, 0] ** 2), members=2, draws=10, epochs=100)
    >>> fitted.predict_interval(x, 0.5).shape
    (40, 2)
    """
    if not (isinstance(data, tuple | list) and len(data) == 2):
        raise TypeError(
            f"ensemble: data must be a pair (inputs, labels), got {type(data).__name__}"
        )
    x, y = data
    if kind is None:
        labels = np.asarray(y)
        whole = labels.dtype.kind in "iub" and len(np.unique(labels)) <= 20
        kind = "classification" if labels.dtype.kind in "OSU" or whole else "regression"
    if kind not in ("regression", "classification"):
        raise ValueError(f"ensemble: kind must be 'regression' or 'classification', got {kind!r}")
    estimator = EnsembleRegressor if kind == "regression" else EnsembleClassifier
    return estimator(network, **settings).fit(x, y)


def _quantile(mean: np.ndarray, sd: np.ndarray, level: float) -> np.ndarray:
    """The quantile of a mixture of normal distributions for each column."""
    low, high = (mean - 40 * sd).min(0), (mean + 40 * sd).max(0)
    for _ in range(60):
        middle = 0.5 * (low + high)
        below = ndtr((middle - mean) / sd).mean(0) < level
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return 0.5 * (low + high)
