"""`kg.check`: a condition that must hold when the program runs."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

from .array import Array
from .control.effects import Effect, append
from .errors import CheckError, SymbolicError
from .messages import describe
from .node import Data, Node, Operation
from .operations.operands import as_node
from .public import public
from .source import place_text

if TYPE_CHECKING:
    from .lower import Scope

__all__ = ["Check", "check", "run_time_check"]

CHECK = Operation("check", lambda state, condition: state)


class Check(Effect):
    """A condition that must hold; failure writes its number to the state."""

    __slots__ = ("make", "text")

    def __init__(
        self, state: Node, condition: Node, make: Callable[[str], Exception], text: str
    ) -> None:
        super().__init__(CHECK, (state, condition))
        self.make, self.text = make, text

    def compute(self, tensors: list[Any], scope: "Scope") -> Any:
        """Return the state, or this check's number if it fails first."""
        state, condition = tensors
        if scope.effects is None:
            return state
        number = np.asarray(scope.effects.numbers[self], state.dtype)
        return jnp.where((state == 0) & ~jnp.all(condition), number, state)

    def error(self) -> Exception:
        """The exception to raise if the check failed."""
        return self.make(self.text)


@public
def check(condition: Any, message: str = "") -> None:
    """Require that a condition holds; raise `CheckError` if it does not.

    A condition whose value is known is checked at once. A condition in the graph is checked when a
    compiled function runs: in a branch only if the branch is taken, in a loop in every trip. The
    first check that fails, in the order of the program, ends all loops and is reported; the states
    of the function then keep the values that they had before the call.

    A compiled function runs the checks in the branches, loops and rows that its outputs need. Of
    the checks written outside of branches and loops since the last call of `kg.compile`, it runs
    checks that can be computed from its inputs. `kg.debug` runs checks, too. A check is not part
    of the log density of a model, because a sampler may evaluate the density anywhere. To forbid
    values in a model, use a factor of -inf.

    Parameters
    ----------
    condition
        A boolean, or a boolean array all of whose elements must be true.
    message
        The beginning of the error's text.

    Raises
    ------
    CheckError
        If any element is false: at once, or when the function is called.
    SymbolicError
        If the condition is not boolean.

    Examples
    --------
    >>> import kinetograph as kg
    >>> x = kg.placeholder(name="x")
    >>> kg.check(x > 0, "the scale must be positive")
    >>> f = kg.compile([x], kg.log(x))
    >>> float(f(1.0))
    0.0
    >>> try:
    ...     f(-1.0)
    ... except kg.CheckError as error:
    ...     print(str(error).split(" (")[0])
    the scale must be positive: x > 0 is false
    """
    node = _condition(condition)
    failure = f"{describe(node)} is false" if isinstance(condition, Array) else "the check failed"
    text = f"{message}: {failure}" if message else failure
    _demand(node, CheckError, f"{text}{place_text()}")


def run_time_check(condition: Any, error: Callable[[str], Exception], message: str) -> None:
    """Require that a condition holds; raise `error(message)` if not; see `check`."""
    _demand(_condition(condition), error, message)


def _condition(condition: Any) -> Node:
    node = as_node(condition, "check")
    if node.dtype.kind != "b":
        raise SymbolicError(
            f"check: expected a bool condition, got {describe(node)} of {node.dtype}"
            f"{place_text()}; write a comparison, such as x > 0"
        )
    return node


def _demand(condition: Node, make_error: Callable[[str], Exception], text: str) -> None:
    if isinstance(condition, Data):
        if not condition.value.all():
            raise make_error(text)
        return
    append(lambda state: Check(state, condition, make_error, text))
