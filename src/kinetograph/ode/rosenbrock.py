"""One step of a Rosenbrock method, for stiff equations.

The stages u[i] are solutions of linear equations:

    (1 / (gamma h) - J) u[i] = f(t + c[i] h, y + sum_j a[i][j] u[j])
                               + sum_j g[i][j] u[j] / h + h d[i] df/dt
    y(t + h) = y + sum_j b[j] u[j],    its error = u[7]

and the bends between its ends (see `tableaus`) are q[i] = sum_j bends[i][j] u[j].

J and df/dt are derivatives of the right-hand side at the start of the step, from its graph. One
factorisation serves all eight stages. The method is of order 5(4), L-stable and stiffly accurate.

References
----------
Steinebach (2023), Construction of Rosenbrock-Wanner method Rodas5P and numerical benchmarks within
the Julia Differential Equations package, BIT Numer. Math. 63.
Hairer, Wanner (1996), Solving ordinary differential equations II, IV.7.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..graph.array import Array
from ..graph.control.batch import vmap
from ..graph.derivatives import jvp
from ..graph.functions.arranging import concatenate
from ..graph.functions.mathematics import abs, maximum
from ..graph.lift import lift
from .arguments import Tolerance
from .right_hand_side import Leaves, Right
from .step import RungeKuttaStep, combined, scaled_square

__all__ = ["RODAS5P", "Coefficients", "Rosenbrock"]


class Coefficients(NamedTuple):
    """The coefficients of a method, named as in the module's formulas."""

    order: int  # the estimated error of a step is proportional to h^order
    gamma: float
    a: tuple[tuple[float, ...], ...]  # for the stages from the second on, like g and c
    g: tuple[tuple[float, ...], ...]
    c: tuple[float, ...]
    d: tuple[float, ...]  # for all stages
    b: tuple[float, ...]
    bends: tuple[tuple[float, ...], ...]


_LAST = (
    -7.502846399306121,
    2.561846144803919,
    -11.627539656261098,
    -0.18268767659942256,
    0.030198172008377946,
)

RODAS5P = Coefficients(
    5,
    0.21193756319429014,
    (
        (3.0,),
        (2.849394379747939, 0.45842242204463923),
        (-6.954028509809101, 2.489845061869568, -10.358996098473584),
        (2.8029986275628964, 0.5072464736228206, -0.3988312541770524, -0.04721187230404641),
        _LAST,
        (*_LAST, 1.0),
        (*_LAST, 1.0, 1.0),
    ),
    (
        (-14.155112264123755,),
        (-17.97296035885952, -2.859693295451294),
        (147.12150275711716, -1.41221402718213, 71.68940251302358),
        (165.43517024871676, -0.4592823456491126, 42.90938336958603, -5.961986721573306),
        (
            24.854864614690072,
            -3.0009227002832186,
            47.4931110020768,
            5.5814197821558125,
            -0.6610691825249471,
        ),
        (
            30.91273214028599,
            -3.1208243349937974,
            77.79954646070892,
            34.28646028294783,
            -19.097331116725623,
            -28.087943162872662,
        ),
        (
            37.80277123390563,
            -3.2571969029072276,
            112.26918849496327,
            66.9347231244047,
            -40.06618937091002,
            -54.66780262877968,
            -9.48861652309627,
        ),
    ),
    (0.6358126895828704, 0.4095798393397535, 0.9769306725060716, 0.4288403609558664, 1.0, 1.0, 1.0),
    (
        0.21193756319429014,
        -0.42387512638858027,
        -0.3384627126235924,
        1.8046452872882734,
        2.325825639765069,
        0.0,
        0.0,
        0.0,
    ),
    (*_LAST, 1.0, 1.0, 1.0),
    (
        (
            25.948786856663858,
            -2.5579724845846235,
            10.433815404888879,
            -2.3679251022685204,
            0.524948541321073,
            1.1241088310450404,
            0.4272876194431874,
            -0.17202221070155493,
        ),
        (
            -9.91568850695171,
            -0.9689944594115154,
            3.0438037242978453,
            -24.495224566215796,
            20.176138334709044,
            15.98066361424651,
            -6.789040303419874,
            -6.710236069923372,
        ),
        (
            11.419903575922262,
            2.8879645146136994,
            72.92137995996029,
            80.12511834622643,
            -52.072871366152654,
            -59.78993625266729,
            -0.15582684282751913,
            4.883087185713722,
        ),
    ),
)


class Rosenbrock(NamedTuple):
    """A Rosenbrock method, with its right-hand side and the tolerance."""

    right: Right
    coefficients: Coefficients
    tolerance: Tolerance

    @property
    def order(self) -> int:
        """The order of the estimated error of a step."""
        return self.coefficients.order

    def step(self, t: Array, y: Leaves, slopes: Leaves, size: Array, until: Any) -> RungeKuttaStep:
        """Take a step of a given size from a given state.

        `until` is the time with which f is called at the end of the step.
        """
        method = self.coefficients
        jacobian, by_time = self._derivatives(t, y)
        flat, like = _joined(y), y
        factors = _factors(jacobian, 1 / (method.gamma * size))
        stages = [_solution(*factors, _joined(slopes) + size * method.d[0] * by_time)]
        rows = zip(method.a, method.g, method.c, method.d[1:], strict=True)
        for a, g, c, d in rows:
            value = flat + combined(a, stages)
            stage_time = until if c == 1 else t + c * size
            right_side = (
                _joined(self.right(stage_time, _parted(value, like))) + combined(g, stages) / size
            )
            stages.append(_solution(*factors, right_side + size * d * by_time if d else right_side))
        new = _parted(flat + combined(method.b, stages), like)
        bends = tuple(_parted(combined(row, stages), like) for row in method.bends)
        sizes = [maximum(abs(a), abs(b)) for a, b in zip(y, new, strict=True)]
        square = scaled_square(_parted(stages[-1], like), self.tolerance.scales(sizes))
        return RungeKuttaStep(new, self.right(until, new), bends, square)

    def _derivatives(self, t: Array, y: Leaves) -> tuple[Array, Array]:
        """The derivatives of the slopes by the values and by the time.

        The first is a matrix, the second a vector.
        """
        at_time, at_values = t + 0, _joined(y) + 0

        def column(direction: Array) -> Array:
            time, flat = at_time + 0, at_values + 0
            slopes = _joined(self.right(time, _parted(flat, y)))
            return jvp(slopes, [flat, time], [direction[:-1], direction[-1]])

        columns = vmap(column)(np.eye(at_values.shape[0] + 1, dtype=at_values.dtype))
        return columns[:-1].T, columns[-1]


def _joined(leaves: Leaves) -> Array:
    """All elements of the leaves as one vector."""
    return concatenate([leaf.ravel() for leaf in leaves])


def _parted(flat: Array, like: Leaves) -> Leaves:
    """The leaves of a vector of all elements, shaped as in `like`."""
    ends = np.cumsum([leaf.size for leaf in like])
    return [
        flat[int(end) - leaf.size : int(end)].reshape(leaf.shape).astype(leaf.dtype)
        for leaf, end in zip(like, ends, strict=True)
    ]


@lift
def _factors(jacobian: Any, diagonal: Any) -> Any:
    """The matrix `diagonal` I - J, and its LU factors.

    The factors are constants for derivatives; `_solution` has its own derivative.
    """
    matrix = diagonal * jnp.eye(len(jacobian), dtype=jacobian.dtype) - jacobian
    lu, _, order = lax.linalg.lu(lax.stop_gradient(matrix))
    return matrix, lu, order


@lift
def _solution(matrix: Any, lu: Any, order: Any, right: Any) -> Any:
    """The solution x of matrix x = right.

    Its derivative is the solution of equations with the same matrix.
    """
    solve = lax.linalg.triangular_solve

    def forward(_: Any, b: Any) -> Any:
        x = solve(lu, b[order][:, None], left_side=True, lower=True, unit_diagonal=True)
        return solve(lu, x, left_side=True)[:, 0]

    def backward(_: Any, b: Any) -> Any:
        x = solve(lu, b[:, None], left_side=True, transpose_a=True)
        x = solve(lu, x, left_side=True, lower=True, unit_diagonal=True, transpose_a=True)
        return jnp.zeros_like(b).at[order].set(x[:, 0])

    lu = lax.stop_gradient(lu)
    return jax.lax.custom_linear_solve(lambda x: matrix @ x, right, forward, backward)
