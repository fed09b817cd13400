"""Langevin dynamics by any splitting, a word of A, B and O.

The letters are read from left to right:

    A   drift     q <- q + t p
    B   kick      p <- p - t grad U(q)
    O   friction  p <- exp(-gamma t) p + sqrt((1 - exp(-2 gamma t)) / beta) R

Each letter's time is the step size divided by the number of its occurrences.

Samples  a density that tends to exp(-beta (U + p^2 / 2)) with h -> 0
Order    2 for palindromes, and over cycles of steps for their cyclic shifts; otherwise 1
Stable   for h^2 k < 4, for palindromes
Cost     one gradient for each position at which there is a kick; a second kick at a position takes
         none. Words that end in A also evaluate the potential of the final position, and its
         gradient if an observable or a mini-batch needs it
Records  the kinetic energy at the end of the step, and `kinetic_energy_O` after the last O
Source   B. Leimkuhler, C. Matthews, Molecular Dynamics, Springer 2015, chapter 7.
"""

from collections import Counter
from typing import Any

from ..graph.functions.mathematics import exp, sqrt
from ..graph.functions.reductions import sum as sum_of
from ..graph.public import public
from .hyper import hyper
from .noise_norm import record_noise
from .sampler import Point, Sampler

__all__ = ["Splitting"]

LETTERS = {"A": "drift", "B": "kick", "O": "friction and noise"}


@public
class Splitting(Sampler):
    """Langevin dynamics by a splitting that is given as a word.

    A drifts (q <- q + t p), B kicks (p <- p - t grad U(q)), O is friction and noise
    (p <- exp(-gamma t) p + sqrt((1 - exp(-2 gamma t)) / beta) R). A letter's time is the step size
    divided by the number of its occurrences: "BAOAB" is B/2 A/2 O A/2 B/2.

    Parameters
    ----------
    word
        Letters A, B and O, at least one A and one B.
    step_size
        h.
    friction
        gamma.
    inverse_temperature
        beta.

    Raises
    ------
    ValueError
        If the word has another letter, no A or no B. The message names the place of the letter.

    Examples
    --------
    >>> import kinetograph as kg
    >>> kg.samplers.Splitting("OBABO", step_size=0.2)
    Splitting(word='OBABO', step_size=0.2)
    >>> kg.samplers.Splitting("BAXAB")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: Splitting: 'BAXAB' has 'X' at place 3 (...); letters are A (drift), B (kick) and O \
(friction and noise)

    Source: B. Leimkuhler, C. Matthews, Molecular Dynamics, Springer 2015, chapter 7.
    """

    word = hyper("BAOAB", static=True)
    step_size = hyper(0.1, positive=True)
    friction = hyper(1.0, lower=0)
    inverse_temperature = hyper(1.0, positive=True, scalar=True)

    def __init__(self, *values: Any, **settings: Any) -> None:
        super().__init__(*values, **settings)
        _check(self.word)

    def init(self, at: Point) -> dict[str, Any]:
        """Draw momenta at the temperature."""
        return {"p": self.noise("momentum", like=at.q) / sqrt(self.inverse_temperature)}

    def step(self, at: Point, p: Any) -> Any:
        """Make one step, letter by letter."""
        beta, count = self.inverse_temperature, Counter(self.word)
        q, evaluated, added = at.q, True, []
        for letter in self.word:
            t = self.step_size / count[letter]
            if letter == "A":
                q, evaluated = q + t * p, False
            elif letter == "B":
                if not evaluated:
                    at, evaluated = self.evaluate(q), True
                p = p - t * at.gradient
            else:
                a = exp(-self.friction * t)
                added.append(sqrt((1 - a * a) / beta) * self.noise("O", like=p))
                p = a * p + added[-1]
                self.record("kinetic_energy_O", 0.5 * sum_of(p * p))
        if not evaluated:
            at = self.evaluate(q)
        self.record("kinetic_energy", 0.5 * sum_of(p * p))
        if added:
            record_noise(self, *added)
        return at, {"p": p}


def _check(word: Any) -> None:
    """Refuse words with unknown letters, without A or without B."""
    if not isinstance(word, str):
        raise TypeError(f"Splitting: word must be a string such as 'BAOAB', got {word!r}")
    letters = ", ".join(f"{letter} ({meaning})" for letter, meaning in LETTERS.items())
    letters = " and ".join(letters.rsplit(", ", 1))
    for place, letter in enumerate(word, start=1):
        if letter not in LETTERS:
            raise ValueError(
                f"Splitting: {word!r} has {letter!r} at place {place}; letters are {letters}"
            )
    for letter in "AB":
        if letter not in word:
            raise ValueError(
                f"Splitting: {word!r} has no {letter}, so nothing ever "
                f"{'moves' if letter == 'A' else 'feels the potential'}; letters are {letters}"
            )
