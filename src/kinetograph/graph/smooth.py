"""Operations whose derivative is finite wherever operands and result are within bounds.

Of what is computed by them alone a cotangent of 0 gives 0, so nobody has to be told whether it took
part; see `participation`. What is not listed may have an infinite slope, or overflow.
"""

import numpy as np

from .node import Apply, Bundle, Data, Node

__all__ = ["is_smooth"]

_ELEMENTWISE = "add subtract multiply negative positive absolute fabs square sign rint floor ceil"
_ELEMENTWISE += " trunc maximum minimum fmax fmin sin cos tanh arctan arcsinh erf erfc expit"
_ELEMENTWISE += " softplus log_expit logaddexp ndtr deg2rad rad2deg heaviside copysign"
_ARRAYS = "where astype stop_gradient part index update ravel matmul einsum kron reshape transpose"
_ARRAYS += " broadcast_to concatenate stack repeat tile flip roll diag tril triu sort diff sum mean"
_ARRAYS += " max min cumsum cummax cummin segment_sum softmax log_softmax logsumexp"
_SMOOTH = frozenset((*_ELEMENTWISE.split(), *_ARRAYS.split()))


def is_smooth(node: Node) -> bool:
    """Whether the derivative of an operation is finite, whatever its finite operands are."""
    if not isinstance(node, (Apply, Bundle)):
        return True
    name = node.operation.name
    if name in _SMOOTH:
        return True
    if name == "power" and "y" in node.attributes:
        return int(node.attributes["y"]) >= 0
    if name in ("power", "divide"):
        second = node.parents[1]
        if not isinstance(second, Data) or not second.literal:
            return False
        value = second.value
        if name == "divide":
            return bool(np.all(value != 0))
        return bool(np.all((value >= 0) & (value == np.rint(value))))
    return False
