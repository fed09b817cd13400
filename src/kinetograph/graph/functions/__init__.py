"""The functions of arrays, as users call them: `kg.exp(x)`, `kg.sum(x, axis=0)`, `kg.stack(rows)`.

All are written out, so that editors and type checkers know them. NumPy's own (`np.exp(x)`) make the
same operations, through `graph.numpy`.
"""

from . import arranging, mathematics, matrices, reductions, special

__all__: list[str] = []
__all__ += arranging.__all__
__all__ += mathematics.__all__
__all__ += matrices.__all__
__all__ += reductions.__all__
__all__ += special.__all__
