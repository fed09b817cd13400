"""`kg.opt`: the mode of a model's density."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from ..bits.draws import chain_key
from ..bits.keys import fresh_seed
from ..graph.errors import StartError
from ..graph.node import Node
from ..graph.public import public
from ..graph.source import place_text, warn_user
from ..graph.suggestions import SuggestingDict, did_you_mean
from ..graph.value_texts import shown
from ..models.model import Model, check_model
from ..models.starting_points import START_ATTEMPTS, blame, initial_points, random_point
from . import __all__ as _NAMES
from .objective import Objective
from .optimizer import Optimizer, OptimizerSearch, Reached, SearchLimits, within
from .result import ConvergenceWarning, Optimum, standard_errors
from .steps import of_transformation

__all__ = ["choose", "find", "limits_of", "opt", "starting_points", "whole"]


@public
def opt(
    model: Model,
    optimizer: Any = "lbfgs",
    *,
    initial: Any = None,
    adjust: bool = True,
    max_iterations: int = 1000,
    tolerance: float = 1e-6,
    hessian: bool = False,
    starts: int = 1,
    seed: int | np.integer | None = None,
) -> Optimum:
    """Find the mode of a model's density.

    The function minimises the negative log density as a function of the free state u, to which all
    unknowns x(u) are transformed:

        adjust=True     -log p(x(u), data) - log |dx / du|    the mode of the density of u
        adjust=False    -log p(x(u), data)                    the mode of the density of x

    The second is the maximum a posteriori estimate on the constrained scale; if all priors are
    flat, it is the maximum likelihood estimate. The search has converged when the objective changed
    by at most `tolerance` in the last iteration, and the norm of the gradient is at most
    10 `tolerance`. Both bounds allow for rounding errors of the objective.

    Parameters
    ----------
    model
        Made by `kg.model`.
    optimizer
        A name ("lbfgs", "bfgs", "newton", "nelder_mead", "gradient_descent", "barzilai_borwein",
        "adam", ...), an optimiser with settings such as `kg.optimizers.adam(0.01)`, or an optax
        transformation.
    initial
        The starting point: a dictionary of values of unknowns, a free state, or an earlier result
        of `kg.opt`; for several starts also a list or an array of these. Unknowns without a value
        are drawn as by `kg.mcmc`, uniformly on the free scale, up to 100 times until density and
        gradient are finite. By default all unknowns are drawn.
    adjust
        Whether to find the mode of the density of u; see above.
    max_iterations
        The largest number of iterations.
    tolerance
        The tolerance of the test of convergence.
    hessian
        Whether to compute the Hessian at the mode and standard errors.
    starts
        The number of starting points; the best optimum is returned. All starts share one compiled
        program. Start i is the same for any number of starts.
    seed
        The seed of random starting points: a whole number, not negative. By default it is taken
        from the system's entropy. The result records it.

    Returns
    -------
    Optimum
        `values` of the unknowns, `targets`, `value` of the objective, `converged`, ...

    Raises
    ------
    TypeError
        If `model` is not a model or `optimizer` is not an optimiser.
    ValueError
        If the name of the optimiser is unknown, or a number is out of its range.
    StartError
        If density or gradient are not finite at a starting point. The message names the terms that
        are not finite.

    Warns
    -----
    ConvergenceWarning
        If the search has not converged, or the Hessian shows that the result is not a minimum.

    Examples
    --------
    >>> import kinetograph as kg
    >>> rate = kg.variable(lower=0)
    >>> y = kg.data([1.2, 0.7, 1.1])
    >>> likelihood = kg.observe(y, kg.exponential(rate))
    >>> mode = kg.opt(kg.model(rate), adjust=False, hessian=True, seed=1)
    >>> print(f"{mode.values['rate']:.3f} +- {mode.standard_errors['rate']:.3f}")
    1.000 +- 0.577
    """
    check_model(model, "opt")
    chosen = choose("opt", optimizer)
    for name, given in {"adjust": adjust, "hessian": hessian}.items():
        if not isinstance(given, (bool, np.bool_)):
            raise TypeError(f"opt: {name} must be True or False, got {shown(given)}")
    limits = limits_of("opt", max_iterations, tolerance)
    count = whole("opt", "starts", starts, 1)
    used_seed = fresh_seed() if seed is None else whole("opt", "seed", seed, 0)
    optimum = find(model, chosen, bool(adjust), initial, limits, count, used_seed, bool(hessian))
    problem = optimum.message if not optimum.converged else ""
    if optimum.hessian is not None and not _all_finite(optimum.standard_errors):
        problem += ("; " if problem else "") + (
            "the Hessian is not positive definite: this point is not a minimum, or it is a flat "
            "one; there are no standard errors"
        )
    if problem:
        warn_user(f"opt: {problem}", ConvergenceWarning)
    return optimum


def find(
    model: Model,
    optimizer: Optimizer,
    adjusted: bool,
    initial: Any,
    limits: SearchLimits,
    starts: int,
    seed: int,
    hessian: bool,
    doing: str = "opt",
) -> Optimum:
    """Find the optimum; the arguments have been checked.

    `doing` is the name of the user's function, for messages.
    """
    objective = Objective(model, adjusted)
    search = optimizer.search(objective, starts)
    keys = [chain_key(seed, index) for index in range(starts)]
    points = starting_points(objective, search, initial, keys, doing)
    reached = search.run(points, limits)
    values = np.array([place.value for place in reached])
    best = reached[int(np.argmin(values))]
    limit = (limits.tolerance, limits.gradient)
    converged = best.resolved or within(
        best.value, best.change, best.gradient_norm, limit, objective.epsilon
    )
    free = np.asarray(best.free)
    unknowns, targets = objective.values(free)
    second, errors = None, None
    if hessian:
        second = objective.hessian(free)
        of_unknowns, of_targets = objective.slopes(free)
        errors, _ = standard_errors(second, of_unknowns | of_targets)
    return Optimum(
        values=SuggestingDict(_typed(unknowns, model.component.unknowns)),
        targets=SuggestingDict(_typed(targets, model.targets)),
        value=best.value,
        converged=bool(converged),
        message=_message(best, bool(converged), limits),
        iterations=best.iterations,
        evaluations=best.evaluations,
        gradient_norm=best.gradient_norm,
        free=free,
        adjusted=adjusted,
        reached=values,
        optimizer=optimizer.name,
        seed=seed,
        hessian=second,
        standard_errors=None if errors is None else SuggestingDict(errors),
        model=model,
    )


def _typed(values: dict[str, np.ndarray], nodes: Sequence[Node]) -> dict[str, np.ndarray]:
    """The values with the dtypes of their nodes."""
    return {n: v.astype(node.dtype) for (n, v), node in zip(values.items(), nodes, strict=True)}


def _all_finite(errors: dict[str, np.ndarray] | None) -> bool:
    return errors is None or all(np.isfinite(error).all() for error in errors.values())


def _message(best: Reached, converged: bool, limits: SearchLimits) -> str:
    """The reason for which the search ended."""
    if converged:
        return "converged"
    state = (
        f"the objective changed by {best.change:.2g} in the last iteration and its gradient has "
        f"norm {best.gradient_norm:.2g}; the limits are {limits.tolerance:.2g} and "
        f"{limits.gradient:.2g}"
    )
    if best.problem:
        state_text = f"; {state}" if best.iterations else ""
        return f"not converged after {best.iterations} iterations: {best.problem}{state_text}"
    return (
        f"not converged in max_iterations = {limits.iterations}: {state}; raise max_iterations, "
        "or try another `optimizer` or learning_rate"
    )


def starting_points(
    objective: Objective,
    search: OptimizerSearch,
    initial: Any,
    keys: Sequence[np.ndarray],
    doing: str,
) -> np.ndarray:
    """Given or random points with finite objective and gradient, one per key.

    Raises
    ------
    StartError
        If they are not finite at a given point, or at `START_ATTEMPTS` random points.
    """
    model = objective.model
    given = initial_points(model, initial, keys, doing, "start")
    points = np.array(
        [random_point(model, key, 0) if p is None else p for p, key in zip(given, keys)]
    )
    bad, chosen = ~search.fit(points), given[0] is not None
    for attempt in range(1, START_ATTEMPTS):
        if chosen or not bad.any():
            break
        for i, key in enumerate(keys):
            if bad[i]:
                points[i] = random_point(model, key, attempt)
        bad = ~search.fit(points)
    if bad.any():
        raise _no_start(objective, points, bad, chosen, doing)
    return points


def _no_start(
    objective: Objective, points: np.ndarray, bad: np.ndarray, given: bool, doing: str
) -> StartError:
    """The error for points without finite density or gradient."""
    failed = np.flatnonzero(bad)
    starts_text = (
        f"start {failed[0]}" if len(failed) == 1 else f"{len(failed)} of {len(bad)} starts"
    )
    reason = (
        "the given initial point has no finite log density or gradient"
        if given
        else f"no finite log density and gradient in {START_ATTEMPTS} random starting points"
    )
    lines = blame(objective.model, points[failed[0]], given)
    return StartError("\n".join([f"{doing}: {starts_text}: {reason}.", *lines]))


def choose(title: str, optimizer: Any) -> Optimizer:
    """The optimiser of a name, or the optimiser that is given.

    Raises
    ------
    TypeError
        If the value is neither a name nor an optimiser.
    ValueError
        If the name of the optimiser is unknown.
    """
    if isinstance(optimizer, Optimizer):
        return optimizer
    if isinstance(optimizer, str):
        name = optimizer.lower().replace("-", "_").replace(" ", "_")
        if name in _NAMES:
            return getattr(import_module(__package__), name)()
        hint = did_you_mean(name, _NAMES) or "."
        raise ValueError(
            f"{title}: unknown `optimizer` {optimizer!r}{place_text()}{hint} Choose one of "
            f"{', '.join(_NAMES)}, or give any transformation of optax"
        )
    if callable(getattr(optimizer, "init", None)) and callable(getattr(optimizer, "update", None)):
        return of_transformation(optimizer)
    name = getattr(optimizer, "__name__", "")
    call = f"; write `optimizer={name}(...)`" if callable(optimizer) and name else ""
    if type(optimizer) is int:
        call = f"; the number of iterations is given by max_iterations={optimizer}"
    raise TypeError(
        f"{title}: `optimizer` is {shown(optimizer)}; expected a name such as 'lbfgs', an "
        f"optimiser such as `kg.optimizers.adam(0.1)`, or a transformation of optax{call}"
    )


def whole(title: str, name: str, value: Any, least: int) -> int:
    """Check that a value is a whole number of at least `least`.

    Raises
    ------
    ValueError
        If it is not.
    """
    is_whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not is_whole or value < least:
        raise ValueError(
            f"{title}: {name} must be a whole number of at least {least}, got {shown(value)}"
        )
    return int(value)


def limits_of(title: str, max_iterations: Any, tolerance: Any) -> SearchLimits:
    """Read the limits of a search.

    Raises
    ------
    ValueError
        If the number of iterations is not positive, or the tolerance negative.
    """
    iterations = whole(title, "max_iterations", max_iterations, 1)
    is_number = isinstance(tolerance, (int, float, np.number)) and not isinstance(tolerance, bool)
    if not is_number or not 0 <= tolerance < np.inf:
        raise ValueError(
            f"{title}: tolerance must be a number that is not negative, got {shown(tolerance)}"
        )
    return SearchLimits(iterations, float(tolerance))
