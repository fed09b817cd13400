"""Checks that the graph of a step or observable can be computed.

Errors name the array without a value in a run, and the user's line.
"""

from collections.abc import Collection, Iterable
from typing import Any

from ..distributions.variable import Distribution, Variable
from ..graph.checks import Check
from ..graph.control.control_node import everything
from ..graph.control.effects import Effect
from ..graph.control.state import Cell
from ..graph.errors import ModelError
from ..graph.messages import describe, site_text
from ..graph.node import Apply, Bundle, Data, Node, Placeholder, ancestors

__all__ = ["Given", "refuse_cells", "refuse_effects", "refuse_elsewhere"]


class Given(Placeholder):
    """An input of a sampler's method or an observable.

    It has a new value at each call. `interval` holds the least and the largest whole number that it
    can be, if they are known.
    """

    __slots__ = ("interval",)
    interval: tuple[int, int] | None

    def __init__(self, *args: Any, interval: tuple[int, int] | None = None) -> None:
        super().__init__(*args)
        self.interval = interval


def refuse_elsewhere(
    where: str, results: Iterable[Node], given: Collection[Node], begun: int
) -> None:
    """Refuse results that depend on an array without a value.

    Parameters
    ----------
    where
        The method or observable, for messages.
    results
        The nodes to compute.
    given
        The nodes that have a value when the program runs.
    begun
        The serial number of the first node made by the method; older nodes come from outside.

    Raises
    ------
    ModelError
        If there is such an array. The message names it, and the line that uses it.
    """
    nodes = ancestors(results, stop=given.__contains__)
    missing = [
        n
        for n in nodes
        if n not in given and not isinstance(n, (Apply, Bundle, Data, Distribution))
    ]
    if not missing:
        return
    first = node = missing[0]
    user: Node | None = None
    while True:  # follow the users of the array to the last node from outside the method
        user = next((n for n in nodes if node in n.parents), None)
        if user is None or user.serial >= begun:
            break
        node = user
    use = f"{where} uses {describe(node)}{'' if user is None else site_text(user)}"
    if isinstance(first, Variable):
        raise ModelError(
            f"{use}, an unknown of a model, which has no value there: random numbers are "
            "self.noise(...), the unknowns at a point are self.parts(at.q), and the unknowns in "
            "an observable are step.parts"
        )
    if isinstance(first, Given):
        raise ModelError(
            f"{use}, an array of another method or run, which has no value there; to keep a value "
            "from step to step, make it a slot: return it from init in a dictionary, take it in "
            "step by its name and return it with the point"
        )
    raise ModelError(
        f"{use}, a {first.kind}, which has no value there; declare it as a hyper-parameter, "
        "kg.hyper(...)"
    )


def refuse_effects(where: str, nodes: Iterable[Node]) -> None:
    """Refuse prints and checks, which a run does not execute.

    Raises
    ------
    ModelError
        If there is a print or a check. The message names its line.
    """
    for node in everything(ancestors(nodes)):
        if isinstance(node, Check):
            raise ModelError(
                f"{where} calls kg.check{site_text(node)}, but a run does not stop at a step "
                f"({node.text}); write an `if` for the other case, or record the condition: "
                "self.record('name', condition)"
            )
        if isinstance(node, Effect):
            raise ModelError(
                f"{where} prints{site_text(node)}, but a run prints nothing; record the value, "
                "self.record('name', value), and look at it by "
                "kg.chain(model, sampler).step().sample_stats"
            )


def refuse_cells(where: str, cells: Iterable[Cell]) -> None:
    """Refuse states and streams that all chains would share.

    Raises
    ------
    ModelError
        If there is one. The message names the state.
    """
    for cell in cells:
        if cell.hidden:
            raise ModelError(
                f"{where}: a draw of kg.RandomStreams in a step would be equal in all chains; "
                "use self.noise, which has the same methods"
            )
        raise ModelError(
            f"{where}: all chains would share the state {cell.title}; keep it as a slot: return "
            "it from init, take it in step and return it with the point"
        )
