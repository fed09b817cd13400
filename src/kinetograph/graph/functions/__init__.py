"""The public functions of arrays, such as `kg.exp(x)` and `kg.stack(rows)`.

All of them are written out, so that editors and type checkers know them. NumPy's functions
(`np.exp(x)`) make the same operations, through `graph.numpy`.
"""

from . import arranging, mathematics, matrices, reductions, special

__all__: list[str] = []
__all__ += arranging.__all__
__all__ += mathematics.__all__
__all__ += matrices.__all__
__all__ += reductions.__all__
__all__ += special.__all__
