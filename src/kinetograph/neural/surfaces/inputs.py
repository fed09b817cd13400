"""Outputs of a network on a grid of inputs."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import xarray as xr

from ...graph.public import public
from ..analysis.inputs import numbers
from ..counter import Progress
from ..landscape import Landscape
from ..parts import Arrays, in_parts
from .evaluation import axis, identity
from .rows import rows_of

__all__ = ["input_space"]

OUTPUTS = 2**22  # the largest number of points times inputs whose outputs are in memory


@public
def input_space(
    landscape: Landscape,
    parameters: Any,
    intervals: Any = (-1.0, 1.0, 50),
    *,
    steps: Sequence[int] | None = None,
    store: Any = None,
    progress: Progress = True,
) -> xr.Dataset:
    """Evaluate the network on a grid of inputs.

    Parameters
    ----------
    landscape
        The network, as a `kg.neural.Landscape`; its data do not matter.
    parameters
        One vector of free parameters, (size,), or the rows of a trajectory, as of `trajectory`.
    intervals
        (low, high, samples) for all inputs, or a list with one for each.
    steps, store, progress
        As of `trajectory`.

    Returns
    -------
    xarray.Dataset
        On the axes x1, x2, ...: `output0`, `output1`, ... for one vector; `mean0`, `sd0`, ... over
        the rows of a trajectory. The divisor of the variance is the number of rows.

    Raises
    ------
    ValueError
        If an interval is not of this kind, or the numbers of intervals and inputs differ.

    Examples
    --------
    >>> import jax, numpy as np, kinetograph as kg
    >>> x, network = np.linspace(-1, 1, 20)[:, None], kg.neural.mlp([])
    >>> layout = kg.neural.ParameterLayout(network.start(jax.random.key(0), x[0], 1))
    >>> land = kg.neural.Landscape(network, layout, "mean_squared", x, 2 * x)
    >>> space = kg.neural.surfaces.input_space(land, [2.0, 1.0], (-1, 1, 2), progress=False)
    >>> space.output0.values.tolist()
    [-1.0, 1.0, 3.0]
    """
    shape = np.shape(landscape.x)[1:]
    width = int(np.prod(shape, dtype=int))
    one = not isinstance(intervals, list)
    each = [intervals] * width if one else intervals
    if len(each) != width:
        raise ValueError(
            f"input_space: expected intervals of {width} inputs, one for each, got {len(each)}"
        )
    axes = {f"x{i + 1}": axis(v, 0.0, "input_space", "intervals") for i, v in enumerate(each)}
    single = not hasattr(parameters, "posterior") and not isinstance(parameters, (str, xr.DataTree))
    single = single and np.ndim(parameters) == 1
    if single:
        points = numbers(parameters, "input_space: parameters")[None]
    else:
        points = rows_of(landscape, parameters, steps, "input_space").points
    sizes = [len(values) for values in axes.values()]

    def compute(places: np.ndarray) -> Arrays:
        indices = np.unravel_index(places, sizes)
        x = np.stack([v[i] for v, i in zip(axes.values(), indices, strict=True)], 1)
        outputs = landscape.outputs(points, x.reshape(len(x), *shape))
        if single:
            return {f"output{k}": values for k, values in enumerate(outputs[0].T)}
        mean, sd = outputs.mean(0), outputs.std(0)
        moments = {f"mean{k}": values for k, values in enumerate(mean.T)}
        return moments | {f"sd{k}": values for k, values in enumerate(sd.T)}

    settings = {"the parameters": points, "the grid": {n: a.tolist() for n, a in axes.items()}}
    columns = in_parts(
        compute,
        int(np.prod(sizes)),
        max(1, min(2**16, OUTPUTS // len(points))),
        settings | identity(landscape, points[0]),
        store=store,
        progress=progress,
        doing="input_space",
        of="inputs",
    )
    values = {name: (tuple(axes), column.reshape(sizes)) for name, column in columns.items()}
    return xr.Dataset(values, coords=axes)
