"""The coefficients of embedded explicit Runge-Kutta methods, with any number of stages.

    k[0] = f(t, y),    k[i] = f(t + c[i-1] h, y + h sum_j a[i-1][j] k[j]),    i = 1 ... s
    y(t + h) = y + h sum_j a[s-1][j] k[j],    its error = h sum_j error[j] k[j]

The last stage is evaluated at the new value and is the first stage of the next step. A pair without
that property gets such a stage. Between the ends, at t + theta h, the solution is the polynomial

    (1 - theta) y(t) + theta y(t + h) + theta (1 - theta) (q[0] + theta q[1] + theta^2 q[2])
    q[i] = h sum_j bends[i][j] k[j]

that has the values and the slopes of both ends, k[0] and k[s]. If a method has a value of order 4
in the middle of a step, the polynomial has this value, too, degree 4 and order 4. Otherwise q[2] is
missing, and it has degree 3 and order 3.

To add a method, call `explicit_pair` and put the result into `TABLEAUS`.

References
----------
Bogacki, Shampine (1989), A 3(2) pair of Runge-Kutta formulas, Appl. Math. Lett. 2.
Dormand, Prince (1980), A family of embedded Runge-Kutta formulae, J. Comput. Appl. Math. 6.
Shampine (1986), Some practical Runge-Kutta formulas, Math. Comp. 46 (the value in the middle of a
step of Dormand and Prince).
Tsitouras (2011), Runge-Kutta pairs of order 5(4) satisfying only the first column simplifying
assumption, Comput. Math. Appl. 62.
"""

from typing import NamedTuple

__all__ = ["BOSH3", "DOPRI5", "TABLEAUS", "TSIT5", "Tableau", "explicit_pair"]


class Tableau(NamedTuple):
    """The coefficients of a method."""

    name: str
    order: int  # the estimated error of a step is proportional to h^order
    a: tuple[tuple[float, ...], ...]
    c: tuple[float, ...]
    error: tuple[float, ...]
    bends: tuple[tuple[float, ...], ...]  # two or three rows


def explicit_pair(
    name: str,
    order: int,
    a: tuple[tuple[float, ...], ...],
    c: tuple[float, ...],
    lower: tuple[float, ...],
    weights: tuple[float, ...] | None = None,
    middle: tuple[float, ...] | None = None,
) -> Tableau:
    """The tableau of an embedded pair, from its Butcher tableau.

    Parameters
    ----------
    name
        The name of the method.
    order
        The order of the estimated error: the lower order of the pair plus 1.
    a, c
        The rows and times of the stages from the second on; the first stage is f(t, y).
    lower
        The weights of the embedded solution that is subtracted for the error.
    weights
        The weights of the solution. By default they are the last row of `a`, which then is the
        stage at the new value ("first same as last"). If they are given, that stage is added.
    middle
        The weights of a value of order 4 in the middle of a step, if there is one.
    """
    if weights is not None:
        a, c, lower = (*a, weights), (*c, 1.0), (*lower, 0.0)
        middle = middle and (*middle, 0.0)
    solution = (*a[-1], 0.0)
    error = tuple(p - q for p, q in zip(solution, lower, strict=True))
    rows: list[tuple[float, ...]] = []
    for stage, b in enumerate(solution):
        # The values of the factor of theta (1 - theta) at theta = 0, 1/2 and 1.
        start, end = (stage == 0) - b, b - (stage == len(a))
        if middle is None:
            rows.append((start, end - start))
            continue
        half = 4 * (middle[stage] - b / 2)
        second = 2 * (start + end - 2 * half)
        rows.append((start, end - start - second, second))
    return Tableau(name, order, a, c, error, tuple(zip(*rows, strict=True)))


BOSH3 = explicit_pair(
    "bosh3",
    3,
    ((1 / 2,), (0.0, 3 / 4), (2 / 9, 1 / 3, 4 / 9)),
    (1 / 2, 3 / 4, 1.0),
    lower=(7 / 24, 1 / 4, 1 / 3, 1 / 8),
)
"""The method of Bogacki and Shampine."""

DOPRI5 = explicit_pair(
    "dopri5",
    5,
    (
        (1 / 5,),
        (3 / 40, 9 / 40),
        (44 / 45, -56 / 15, 32 / 9),
        (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
        (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
        (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
    ),
    (1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0),
    lower=(5179 / 57600, 0.0, 7571 / 16695, 393 / 640, -92097 / 339200, 187 / 2100, 1 / 40),
    middle=(
        6025192743 / 60171106304,
        0.0,
        51252292925 / 130801643196,
        -2691868925 / 90256659456,
        187940372067 / 3189068634112,
        -1776094331 / 39487288512,
        11237099 / 470086768,
    ),
)
"""The method of Dormand and Prince."""

TSIT5 = explicit_pair(
    "tsit5",
    5,
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
    lower=(
        0.09468075576583945807,
        0.00918356554034325310,
        0.48777052842476157079,
        1.23429756693047898566,
        -2.70771234998352545488,
        1.86662841817058703575,
        1 / 66,
    ),
    middle=(
        0.10741235230096871,
        0.01135625,
        0.39560903056045305,
        -0.34475214352593553,
        1.3161853649581645,
        -1.0170608542936508,
        1 / 32,
    ),
)
"""The method of Tsitouras."""

TABLEAUS = {tableau.name: tableau for tableau in (TSIT5, DOPRI5, BOSH3)}
