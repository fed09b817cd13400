"""The coefficients of embedded Runge-Kutta methods of order 5(4) that reuse their last stage.

    k[0] = f(t, y),    k[i] = f(t + c[i-1] h, y + h sum_j a[i-1][j] k[j]),    i = 1 ... 6
    y(t + h) = y + h sum_j a[5][j] k[j],    its error = h sum_j error[j] k[j]

The last stage is taken at the new value and is the first one of the next step.

References
----------
Dormand, Prince (1980), A family of embedded Runge-Kutta formulae, J. Comput. Appl. Math. 6.
Tsitouras (2011), Runge-Kutta pairs of order 5(4) satisfying only the first column simplifying
assumption, Comput. Math. Appl. 62.
"""

from typing import NamedTuple

__all__ = ["DOPRI5", "TABLEAUS", "TSIT5", "Tableau"]


class Tableau(NamedTuple):
    """The coefficients of a method."""

    name: str
    a: tuple[tuple[float, ...], ...]
    c: tuple[float, ...]
    error: tuple[float, ...]


def _tableau(
    name: str,
    a: tuple[tuple[float, ...], ...],
    c: tuple[float, ...],
    lower: tuple[float, ...],
) -> Tableau:
    """With the error as the difference to a solution of lower order."""
    return Tableau(name, a, c, tuple(p - q for p, q in zip((*a[-1], 0.0), lower, strict=True)))


DOPRI5 = _tableau(
    "dopri5",
    (
        (1 / 5,),
        (3 / 40, 9 / 40),
        (44 / 45, -56 / 15, 32 / 9),
        (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
        (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
        (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
    ),
    (1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0),
    (5179 / 57600, 0.0, 7571 / 16695, 393 / 640, -92097 / 339200, 187 / 2100, 1 / 40),
)

TSIT5 = _tableau(
    "tsit5",
    (
        (161 / 1000,),
        (-0.00848065549235698854, 0.33548065549235698854),
        (2.89715305710549343213, -6.35944848997507484315, 4.36229543286958141102),
        (
            5.32586482843925660443,
            -11.74888356406282787775,
            7.49553934288983620830,
            -0.09249506636175524925,
        ),
        (
            5.86145544294642002866,
            -12.92096931784710929170,
            8.15936789857615864318,
            -0.07158497328140099722,
            -0.02826905039406838291,
        ),
        (
            0.09646076681806522952,
            0.01,
            0.47988965041449957475,
            1.37900857410374189319,
            -3.29006951543608067990,
            2.32471052409977398242,
        ),
    ),
    (0.161, 0.327, 0.9, 0.98002554090450968573, 1.0, 1.0),
    (
        0.09468075576583945807,
        0.00918356554034325310,
        0.48777052842476157079,
        1.23429756693047898566,
        -2.70771234998352545488,
        1.86662841817058703575,
        1 / 66,
    ),
)

TABLEAUS = {tableau.name: tableau for tableau in (TSIT5, DOPRI5)}
