"""Distributions that users define: `kg.distribution`."""

import inspect
import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..bits.source import Source
from ..graph.array import Array
from ..graph.errors import KinetographError, ModelError, ShapeError, StagingError, SymbolicError
from ..graph.lower import Environment, evaluate
from ..graph.messages import describe, site_text
from ..graph.node import Apply, Bundle, Data, Node, Placeholder, ancestors
from ..graph.operations.operands import as_node
from ..graph.public import public
from ..graph.source import place_text, written_at
from ..graph.value_texts import in_words, shown
from .family import Family
from .generator import WHOLE
from .parameter import Parameter
from .support import REAL, Interval, Support, WholeNumbers
from .variable import distribute

__all__ = ["CUSTOM_FAMILIES", "CustomFamily", "distribution"]

# The keys are random, so that no compiled program of another process matches them.
CUSTOM_FAMILIES: dict[str, Family] = {}


@dataclass(frozen=True, eq=False)
class CustomFamily(Family):
    """A family whose functions exist in this process only."""


@public
def distribution(
    log_density: Callable[..., Any],
    *,
    draw: Callable[..., Any] | None = None,
    support: Any = None,
    discrete: bool = False,
    event_ndim: int = 0,
    name: str | None = None,
) -> Callable[..., Array]:
    """Make a distribution of your own from its log density.

    It is used in the same way as the distributions of the library.

    Parameters
    ----------
    log_density
        A function of `x` and of parameters, arrays that broadcast together. It returns the log
        density of each element of x (of each vector if `event_ndim` is 1), computed by functions of
        JAX, kinetograph or NumPy. The distribution has the same parameter names; parameters
        with a default may be omitted. Unknowns must be passed as parameters.
    draw
        A function of a JAX key, a shape and the parameters that returns numbers of that shape.
        Without it, `kg.simulate` and `kg.predict` cannot draw from the distribution.
    support
        A pair of bounds with None for no bound, as in `(0, None)`. The default is all real numbers,
        or all non-negative whole numbers if `discrete`.
    discrete
        Whether x consists of whole numbers.
    event_ndim
        The number of axes of one x: 0 for numbers, 1 for vectors. Vectors take their length from
        `shape`, as in `shape=(150, 2)` for 150 vectors of length 2 whose parameters have the shape
        (150,). Known columns, such as the event of a survival time, are simpler as parameters.
    name
        The name in messages; by default the name of the function.

    Returns
    -------
    callable
        A function of the parameters, by position or by name, and of `shape`, `dims` and `name`. It
        makes an unknown as `kg.normal` does, for `kg.observe`, `kg.log_density` and so on.

    Raises
    ------
    TypeError
        If `log_density` is not a function, has no argument for x, or does not return an array; if
        `draw` takes other arguments.
    ShapeError
        On use, if `log_density` does not return a number for each element of x, or if `draw`
        returns another shape than the requested one.
    ModelError
        On use, if the function raises an exception (the cause of this one), or uses arrays that are
        not among its parameters.

    Examples
    --------
    >>> import jax, jax.numpy as jnp, kinetograph as kg
    >>> def log_density(x, scale=1.0):  # Rayleigh
    ...     return jnp.log(x) - 2 * jnp.log(scale) - 0.5 * (x / scale) ** 2
    >>> def draw(key, shape, scale):
    ...     return scale * jnp.sqrt(2 * jax.random.exponential(key, shape))
    >>> rayleigh = kg.distribution(log_density, draw=draw, support=(0, None), name="rayleigh")
    >>> s = kg.gamma(2, 1, name="s")
    >>> y = kg.observe([0.8, 1.9, 1.1], rayleigh(s))
    >>> kg.model(s).log_prob([0.0]).round(4)
    np.float64(-3.216)
    """
    if not callable(log_density):
        raise TypeError(
            f"distribution: log_density must be a function of x and parameters, got "
            f"{type(log_density).__name__}{place_text()}"
        )
    title = str(name or getattr(log_density, "__name__", "distribution"))
    parameters = _parameters(log_density, title)[1:]
    if draw is not None:
        _check_draw(draw, title, [p.name for p in parameters])
    family = CustomFamily(
        title,
        tuple(Parameter(p.name) for p in parameters),
        _terms(log_density, event_ndim, title, place_text()),
        lambda *nodes: _support(support, discrete, title),
        event_ndim=event_ndim,
        dtype=WHOLE if discrete else None,
        draw=None if draw is None else _drawing(draw, title, place_text()),
        key=f"{title} {secrets.token_hex(8)}",
    )
    CUSTOM_FAMILIES[family.key] = family
    _support(support, discrete, title)  # raises its errors in this line
    defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
    names = [p.name for p in parameters]

    def make(*values: Any, **named: Any) -> Array:
        settings = {key: named.pop(key) for key in ("shape", "dims", "name") if key in named}
        if len(values) > len(names):
            raise TypeError(
                f"{title}: takes {len(names)} parameters ({', '.join(names)}), got {len(values)}"
                f"{place_text()}"
            )
        given = dict(zip(names, values, strict=False))
        for key in named:
            if key not in names or key in given:
                fault = "is given twice" if key in given else "is not a parameter"
                raise TypeError(
                    f"{title}: {key} {fault}; it takes {', '.join([*names, 'shape, dims, name'])}"
                    f"{place_text()}"
                )
        arguments = defaults | given | named
        event = None
        if event_ndim:
            shape = settings.get("shape")
            sizes = (shape,) if isinstance(shape, int) else tuple(shape or ())
            batch = _batch(arguments.values())
            if len(sizes) < event_ndim or (batch and len(sizes) == event_ndim):
                lengths = [str(n) for n in sizes] or ["n"] * event_ndim
                whole = ", ".join([*map(str, batch), *lengths])
                raise TypeError(
                    f"{title}: shape= must give the length of vectors{place_text()}, after the "
                    f"shape of the parameters: write shape=({whole}{',' * (',' not in whole)})"
                )
            event = sizes[len(sizes) - event_ndim :]
        return distribute(family, tuple(arguments.get(n) for n in names), event=event, **settings)

    make.__name__ = make.__qualname__ = title
    make.__doc__ = log_density.__doc__
    return make


def _batch(arguments: Iterable[Any]) -> tuple[int, ...]:
    """The common shape of parameters; () if there is none."""
    try:
        return np.broadcast_shapes(*(np.shape(a) for a in arguments if hasattr(a, "shape")))
    except ValueError:
        return ()


def _parameters(function: Callable[..., Any], title: str) -> list[inspect.Parameter]:
    parameters = list(inspect.signature(function).parameters.values())
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    if not parameters or any(p.kind not in kinds for p in parameters):
        raise TypeError(
            f"distribution: {title} must be a function of x and of named parameters, as "
            f"log_density(x, mean, sd), got {title}{inspect.signature(function)}{place_text()}"
        )
    reserved = [p.name for p in parameters[1:] if p.name in ("shape", "dims", "name")]
    if reserved:
        raise TypeError(
            f"distribution: {title} has a parameter named {reserved[0]}{place_text()}, which is a "
            f"setting of every distribution; give it another name, such as {reserved[0]}_"
        )
    return parameters


def _check_draw(draw: Any, title: str, names: list[str]) -> None:
    """Refuse a function that takes other arguments than draws.

    Draws take a key, a shape and the parameters.

    Raises
    ------
    TypeError
        If `draw` is not a function, or takes other arguments, or these in another order.
    """
    expected = ["key", "shape", *names]
    text = f"draw({', '.join(expected)})"
    if not callable(draw):
        raise TypeError(
            f"distribution: the draw of {title} must be a function {text}, got {in_words(draw)}"
            f"{place_text()}"
        )
    try:
        signature = inspect.signature(draw)
    except (TypeError, ValueError):  # a function in C
        return
    parameters = list(signature.parameters)
    wrong = sorted(parameters) == sorted(expected) and parameters != expected
    try:
        signature.bind(*expected)
    except TypeError:
        wrong = True
    wrong = wrong or parameters[:1] == ["shape"] or parameters[1:2] in (["key"], ["rng"])
    if wrong:
        raise TypeError(
            f"distribution: the draw of {title} is called as {text}, with a JAX key, the shape of "
            f"the numbers, and the parameters in the order of the log density{place_text()}, but "
            f"it is a function of {', '.join(parameters) or 'nothing'}{written_at(draw)}"
        )


def _support(support: Any, discrete: bool, title: str) -> Support:
    if isinstance(support, Support):
        return support
    pair = (None, None) if support is None else support
    if not isinstance(pair, (tuple, list)) or len(pair) != 2:
        raise TypeError(
            f"distribution: the support of {title} must be a pair (lower, upper), with None for a "
            f"missing bound, got {shown(support)}{place_text()}"
        )
    low, high = pair
    if discrete:
        return WholeNumbers(0 if low is None else low, np.inf if high is None else high)
    if low is None and high is None:
        return REAL
    return Interval(-np.inf if low is None else float(low), np.inf if high is None else float(high))


def _terms(
    log_density: Callable[..., Any], event_ndim: int, title: str, place: str
) -> Callable[..., Any]:
    def terms(x: Any, *parameters: Any) -> tuple[Any, ...]:
        density = _density(log_density, f"the log density of {title}", place, x, *parameters)
        batch = jnp.shape(x)[: jnp.ndim(x) - event_ndim]
        if density.shape == batch:  # it does not depend on the parameters of this shape
            return (density,)
        expected = jnp.broadcast_shapes(batch, *map(jnp.shape, parameters))
        if density.shape != expected:
            raise ShapeError(
                f"distribution: the log density of {title} must be a number for each element of x, "
                f"of shape {expected}, got shape {density.shape}; a sum over them is not taken"
                f"{place}"
            )
        return (density,)

    return terms


def _density(function: Callable[..., Any], title: str, place: str, *given: Any) -> Any:
    """Evaluate a log density on JAX arrays, else on graph arrays."""
    try:
        density = _called(function, title, place, *given)
    except SymbolicError:
        density = None
    except StagingError:
        _check_captured(function, title, place)
        raise
    except ModelError as error:
        if not isinstance(error.__cause__, jax.errors.TracerArrayConversionError):
            raise
        density = None
    if density is not None and not isinstance(density, Array):
        return jnp.asarray(density)
    inputs = [Placeholder((), jnp.shape(v), jnp.asarray(v).dtype) for v in given]
    try:
        result = as_node(_called(function, title, place, *map(Array, inputs)), title)
    except (SymbolicError, StagingError):
        _check_captured(function, title, place)
        raise
    for node in ancestors([result]):
        if isinstance(node, Bundle):
            raise ModelError(
                f"distribution: {title} has a loop, a branch or a derivative of kinetograph; write "
                f"these with JAX, or take kg.where{place}"
            )
        supported = isinstance(node, Apply) or (isinstance(node, Data) and node.literal)
        if not supported and node not in inputs:
            raise _uses(title, node, place)
    environment: Environment = dict(zip(inputs, map(jnp.asarray, given), strict=True))
    return evaluate([result], environment)[result]


def _uses(title: str, node: Node, place: str) -> ModelError:
    """The error for a node that is not an argument."""
    return ModelError(
        f"distribution: {title} uses {describe(node)}{site_text(node)}, which is not among "
        f"its parameters; pass it as a parameter{place}"
    )


def _check_captured(function: Callable[..., Any], title: str, place: str) -> None:
    """Raise ModelError if a function captures an array."""
    try:
        around = inspect.getclosurevars(function)
    except TypeError:  # a callable object
        return
    for value in (*around.nonlocals.values(), *around.globals.values()):
        if isinstance(value, Array):
            raise _uses(title, value.node, place) from None


def _drawing(draw: Callable[..., Any], title: str, place: str) -> Callable[..., Any]:
    def drawn(source: Source, *parameters: Any) -> Any:
        words = jnp.stack([jnp.asarray(w, np.uint32) for w in source.key[:2]])
        key = jax.random.wrap_key_data(words, impl="threefry2x32")
        numbers = _called(draw, f"the draw of {title}", place, key, source.shape, *parameters)
        numbers = jnp.asarray(numbers)
        if numbers.shape != source.shape:
            raise ShapeError(
                f"distribution: the draw of {title} must have the requested shape "
                f"{source.shape}, got shape {numbers.shape}{place}"
            )
        return numbers

    return drawn


def _called(function: Callable[..., Any], title: str, place: str, *given: Any) -> Any:
    """Call a user's function, and raise its exceptions as ModelError."""
    try:
        value = function(*given)
    except KinetographError:
        raise
    except Exception as error:
        names = inspect.signature(function).parameters
        shapes = ", ".join(
            f"{n} of shape {np.shape(v)}"
            for n, v in zip(names, given, strict=False)
            if hasattr(v, "shape")
        )
        first = str(error).partition("\n")[0]
        raise ModelError(
            f"distribution: {title} raised {type(error).__name__}: {first}; it was given {shapes}"
            f"{place}"
        ) from error
    if value is None:
        raise TypeError(
            f"distribution: {title} must be an array, got None; is a return missing?{place}"
        )
    return value
