"""The exact law of a scheme with finite steps on the oscillator.

On U(q) = k q^2 / 2 most schemes are linear, so their stationary law is a Gaussian that is known in
closed form. A right sampler agrees with this law within its Monte Carlo error, at any step size,
and not with the canonical law <q^2> = 1 / (beta k), <p^2> = m / beta.

Sources: B. Leimkuhler, C. Matthews, Molecular Dynamics, Springer 2015, chapter 7 (splittings and
their words); M. Welling, Y. W. Teh, Bayesian learning via stochastic gradient Langevin dynamics,
ICML 2011 (SGLD); B. Leimkuhler, C. Matthews, Rational construction of stochastic numerical methods
for molecular sampling, AMRX 2013 (LM); T. Chen, E. B. Fox, C. Guestrin, Stochastic gradient
Hamiltonian Monte Carlo, ICML 2014 (SGHMC); A. Alamo Zapatero, Word series for the numerical
integration of stochastic differential equations, PhD thesis, Valladolid 2017 (UBU).
"""

import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..graph.public import public
from .linear import LinearForm, LinearLaw, linear_law

__all__ = ["LinearStep", "oscillator"]

_WHAT = "kg.laws.oscillator"
Letters = list[tuple[str, float]]


@public
@dataclass(frozen=True)
class LinearStep:
    """The oscillator, as the first argument of a scheme's step.

    `step_size`, `friction`, `inverse_temperature`, `stiffness`, `mass` are numbers. `gradient(q)`
    is k q plus new noise of variance `gradient_noise`. `noise()` is a new standard normal number.
    `record(q=..., p=...)` records values; without it the slots at the end of the step are recorded.
    """

    step_size: float
    friction: float
    inverse_temperature: float
    stiffness: float
    mass: float
    gradient_noise: float
    noise: Callable[[], Any] = field(repr=False)
    records: dict[str, Any] = field(default_factory=dict, repr=False)

    def gradient(self, q: Any) -> Any:
        """The gradient of the potential at q, possibly with noise."""
        gradient = self.stiffness * q
        if self.gradient_noise > 0:
            gradient = gradient + math.sqrt(self.gradient_noise) * self.noise()
        return gradient

    def record(self, **values: Any) -> None:
        """Record these values at this point of the step."""
        self.records.update(values)


def _sgld(s: LinearStep, q: Any) -> Any:
    h, scale = s.step_size / s.mass, math.sqrt(2 * s.step_size / s.inverse_temperature / s.mass)
    return (q - h * s.gradient(q) + scale * s.noise(),)


def _leimkuhler_matthews(s: LinearStep, q: Any, noise: Any) -> Any:
    scale = math.sqrt(s.step_size / (2 * s.inverse_temperature * s.mass))
    fresh = s.noise()
    return q - s.step_size / s.mass * s.gradient(q) + scale * (noise + fresh), fresh


def _sghmc(s: LinearStep, q: Any, p: Any) -> Any:
    h = s.step_size
    scale = math.sqrt(2 * s.friction * s.mass * h / s.inverse_temperature)
    p = p - h * s.gradient(q) - h * s.friction * p + scale * s.noise()
    return q + h / s.mass * p, p


SCHEMES: dict[str, Callable[..., Any]] = {
    "SGLD": _sgld,
    "ULA": _sgld,
    "LM": _leimkuhler_matthews,
    "SGHMC": _sghmc,
}
WORDS = {"GLA1": "BAO", "GLA2": "BABO"}


def _drift(s: LinearStep, t: float, q: Any, p: Any) -> Any:
    return q + t / s.mass * p, p


def _friction(s: LinearStep, t: float, q: Any, p: Any) -> Any:
    keep = math.exp(-s.friction * t)
    scale = math.sqrt(-math.expm1(-2 * s.friction * t) * s.mass / s.inverse_temperature)
    return q, keep * p + scale * s.noise()


def _drift_with_friction(s: LinearStep, t: float, q: Any, p: Any) -> Any:
    """The exact flow of drift with friction, with two noises.

    The equations are dq = p/m dt, dp = -c p dt + sqrt(2 c m / beta) dW.
    """
    c, y = s.friction, s.friction * t
    if c == 0:
        return _drift(s, t, q, p)
    decay = -math.expm1(-y)
    # y - 2 (1 - e^-y) + (1 - e^-2y) / 2; its leading terms cancel, so use the Taylor series.
    if y < 0.5:
        spread = sum((-y) ** n * (2 - 2 ** (n - 1)) / math.factorial(n) for n in range(3, 25))
    else:
        spread = y - 2 * decay - 0.5 * math.expm1(-2 * y)
    var_q = 2 * spread / (c * c * s.inverse_temperature * s.mass)
    cov = decay * decay / (c * s.inverse_temperature)
    var_p = -math.expm1(-2 * y) * s.mass / s.inverse_temperature
    first, second = s.noise(), s.noise()
    sd_q = math.sqrt(var_q)
    remainder = math.sqrt(max(var_p - cov * cov / var_q, 0.0))
    q = q + decay / (c * s.mass) * p + sd_q * first
    return q, (1 - decay) * p + cov / sd_q * first + remainder * second


_MOVES = {"A": _drift, "O": _friction, "U": _drift_with_friction}


def _letters(word: Any) -> Letters:
    """The pairs of letter and fraction of the step.

    The fractions of a letter in a word are equal.
    """
    if isinstance(word, str):
        pairs = [(letter, 1.0 / word.count(letter)) for letter in word]
    else:
        pairs = [(str(letter), float(part)) for letter, part in word]
    for i, (letter, part) in enumerate(pairs):
        if letter not in "ABOU" or len(letter) != 1:
            raise ValueError(
                f"{_WHAT}: {letter!r}, the symbol {i + 1} of {word!r}, is not a flow; choose A "
                "(drift), B (kick), O (friction) and U (drift with friction), or one of the names "
                f"{', '.join([*WORDS, *SCHEMES])}"
            )
        if not math.isfinite(part):
            raise ValueError(f"{_WHAT}: {letter} takes {part} of the step in {word!r}")
    used = {letter for letter, _ in pairs}
    if "B" not in used or not used & {"A", "U"}:
        missing = "kick (B)" if "B" not in used else "drift (A or U)"
        raise ValueError(f"{_WHAT}: {word!r} has no {missing}")
    return pairs


def _points(at: Any, word: Any, letters: Letters) -> tuple[int, int]:
    """The numbers of letters after which position and momentum are recorded."""
    if isinstance(at, (tuple, list)) and len(at) == 2:
        return _points(at[0], word, letters)[0], _points(at[1], word, letters)[0]
    spelled = "".join(letter for letter, _ in letters)
    if at == "end":
        point = len(letters)
    elif isinstance(at, str) and spelled.startswith(at) and at:
        point = len(at)
    elif isinstance(at, int) and 0 <= at <= len(letters):
        point = at
    else:
        raise ValueError(
            f"{_WHAT}: at={at!r} is not a point of {spelled}: write 'end', the letters passed such "
            f"as {spelled[:2]!r}, their number, or a pair of these for q and p"
        )
    return point, point


def _splitting(word: Any, at: Any) -> tuple[Callable[..., Any], tuple[str, ...]]:
    """The step of a word, and its slots.

    A gradient is computed once for each position, also across steps.
    """
    letters = _letters(word)
    at_q, at_p = _points(at, word, letters)
    order = "".join(letter for letter, _ in letters)
    last_move = max(order.rfind("A"), order.rfind("U"))
    first_move = min(i for i in (order.find("A"), order.find("U")) if i >= 0)
    carried = "B" in order[:first_move] and "B" in order[last_move:]

    def step(s: LinearStep, q: Any, p: Any, gradient: Any = None) -> Any:
        for i in range(len(letters) + 1):
            if i == at_q:
                s.record(q=q)
            if i == at_p:
                s.record(p=p)
            if i == len(letters):
                break
            letter, part = letters[i]
            if letter == "B":
                if gradient is None:
                    gradient = s.gradient(q)
                p = p - part * s.step_size * gradient
            else:
                q, p = _MOVES[letter](s, part * s.step_size, q, p)
                gradient = gradient if letter == "O" else None
        return (q, p, gradient) if carried else (q, p)

    return step, ("q", "p", "gradient") if carried else ("q", "p")


@public
def oscillator(
    scheme: str | Sequence[tuple[str, float]] | Callable[..., Any],
    step_size: float,
    *,
    friction: float = 1.0,
    inverse_temperature: float = 1.0,
    stiffness: float = 1.0,
    mass: float = 1.0,
    gradient_noise: float = 0.0,
    at: Any = "end",
) -> LinearLaw:
    """The exact stationary law of a scheme on the harmonic oscillator.

    The potential is U(q) = k q^2 / 2. A step is linear: it maps z = (q, p) to A z plus Gaussian
    noise of covariance Q. So its stationary covariance S solves the discrete Lyapunov equation S =
    A S A' + Q, and the covariance over s steps is A^s S.

    Parameters
    ----------
    scheme
        A word of flows, which are applied from left to right; the step is divided equally among a
        letter's occurrences. A is a drift q += t p/m, B a kick p -= t k q, O friction, p <- a p +
        noise with a = exp(-friction t), and U an exact drift with friction. Examples are "BAOAB",
        "OBABO", "BABO" and "UBU". Or pairs of letter and fraction of the step. Or a name: "GLA1"
        (BAO), "GLA2" (BABO), "SGLD" or "ULA", "LM" (Leimkuhler and Matthews: BAOAB in the limit of
        large friction) or "SGHMC" (Euler steps). Or any linear step as a function: its first
        argument is a `LinearStep`, and the further ones are its slots, whose new values it returns
        in this order.
    step_size, friction, inverse_temperature, stiffness, mass
        h, gamma, beta, k, m. SGLD and LM have no friction and divide the gradient by the mass.
    gradient_noise
        The variance of noise added to each gradient. A gradient is computed once for each position:
        a kick that ends a step shares it with the kick that begins the next step.
    at
        The point at which a word's q and p are recorded: "end", or the letters passed, such as
        "BAO" of BAOAB, or their number; or a pair, one for q and one for p.

    Returns
    -------
    LinearLaw
        It has `q2`, `p2`, `qp`, `covariance`, `lag_covariance(s)`, `autocorrelation_time("q")` and
        `autocorrelation_time("q", square=True)`.

    Raises
    ------
    ValueError
        If a letter is not a flow, a parameter is not positive, or the scheme is unstable at the
        step size.

    Examples
    --------
    >>> from kinetograph import laws
    >>> law = laws.oscillator("BABO", 0.4, friction=1.5, stiffness=2.0, inverse_temperature=1.3)
    >>> print(f"{1.3 * 2.0 * law.q2:.6f}  {law.autocorrelation_time('q'):.6f}")
    1.086957  3.350095

    A custom scheme, here the Euler-Maruyama step for the overdamped equation:

    >>> def euler(s, q):
    ...     h, beta = s.step_size, s.inverse_temperature
    ...     return q - h * s.gradient(q) + (2 * h / beta) ** 0.5 * s.noise()
    >>> round(laws.oscillator(euler, 0.1).q2, 6) == round(1 / (1 - 0.1 / 2), 6)
    True
    """
    numbers = {
        "step_size": step_size,
        "inverse_temperature": inverse_temperature,
        "stiffness": stiffness,
        "mass": mass,
    }
    for name, value in numbers.items():
        if not 0 < value < math.inf:
            raise ValueError(f"{_WHAT}: {name} must be positive and finite, got {value}")
    for name, value in {"friction": friction, "gradient_noise": gradient_noise}.items():
        if not 0 <= value < math.inf:
            raise ValueError(f"{_WHAT}: {name} must not be negative, got {value}")
    is_named = isinstance(scheme, str) and scheme in SCHEMES
    if callable(scheme) or is_named:
        if at != "end":
            raise ValueError(f"{_WHAT}: at= is for words; a step calls `record` to record values")
        function = scheme if callable(scheme) else SCHEMES[scheme]  # type: ignore[index]
        slots = tuple(inspect.signature(function).parameters)[1:]
    else:
        word = WORDS.get(scheme, scheme) if isinstance(scheme, str) else scheme
        function, slots = _splitting(word, at)

    def run(noise: Callable[[], LinearForm], start: dict[str, LinearForm]) -> Any:
        s = LinearStep(
            step_size, friction, inverse_temperature, stiffness, mass, gradient_noise, noise
        )
        after = function(s, *start.values())
        after = tuple(after) if isinstance(after, (tuple, list)) else (after,)
        if len(after) != len(slots):
            raise ValueError(
                f"{_WHAT}: the step has the slots {', '.join(slots)} and returns {len(after)}"
            )
        return after, s.records or dict(zip(slots, after, strict=True))

    return linear_law(run, slots, _WHAT)
