"""What the graph of a step or an observable cannot be computed from, told by the user's line."""

from collections.abc import Collection, Iterable
from typing import Any

from ..distributions.variable import Distribution, Variable
from ..graph.checks import Check
from ..graph.control.control import everything
from ..graph.control.effects import Effect
from ..graph.control.state import Cell
from ..graph.errors import ModelError
from ..graph.messages import describe, site_text
from ..graph.node import Apply, Bundle, Data, Node, Placeholder, ancestors

__all__ = ["Given", "refuse_cells", "refuse_effects", "refuse_elsewhere"]


class Given(Placeholder):
    """A value that a method of a sampler, or an observable, is given each time.

    `interval` is the least and the largest whole number that it can be, where that is known.
    """

    __slots__ = ("interval",)
    interval: tuple[int, int] | None

    def __init__(self, *args: Any, interval: tuple[int, int] | None = None) -> None:
        super().__init__(*args)
        self.interval = interval


def refuse_elsewhere(
    where: str, results: Iterable[Node], given: Collection[Node], begun: int
) -> None:
    """Refuse results that are computed from what has no value when the program runs.

    `given` are the nodes that have one; nodes made since have serial numbers from `begun` on.

    Raises
    ------
    ModelError
        It names the array, and the line that uses it.
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
    while True:  # to the last one that was there before
        user = next((n for n in nodes if node in n.parents), None)
        if user is None or user.serial >= begun:
            break
        node = user
    what = f"{where} uses {describe(node)}{'' if user is None else site_text(user)}"
    if isinstance(first, Variable):
        raise ModelError(
            f"{what}, an unknown of a model, which has no value there: random numbers are "
            "self.noise(...), the unknowns at a point are self.parts(at.q), and those of an "
            "observable's step are step.parts"
        )
    if isinstance(first, Given):
        raise ModelError(
            f"{what}, an array of another method or run, which has no value there; what is kept "
            "from step to step is a slot: return it from init in a dictionary, take it in step "
            "by its name and return it with the point"
        )
    raise ModelError(
        f"{what}, a {first.kind}, which has no value there; declare it as a hyper-parameter, "
        "kg.hyper(...)"
    )


def refuse_effects(where: str, nodes: Iterable[Node]) -> None:
    """Refuse prints and checks, which a run does not carry out.

    Raises
    ------
    ModelError
        It names the line.
    """
    for node in everything(ancestors(nodes)):
        if isinstance(node, Check):
            raise ModelError(
                f"{where} demands that something holds{site_text(node)}, but a run does not stop "
                f"at a step ({node.text}); decide by `if` what happens else, or record it: "
                "self.record('name', condition)"
            )
        if isinstance(node, Effect):
            raise ModelError(
                f"{where} prints{site_text(node)}, but a run prints nothing; record the value, "
                "self.record('name', value), and look at it by "
                "kg.chain(model, sampler).step().sample_stats"
            )


def refuse_cells(where: str, cells: Iterable[Cell]) -> None:
    """Refuse states and streams that chains would share.

    Raises
    ------
    ModelError
        It names the state.
    """
    for cell in cells:
        if cell.hidden:
            raise ModelError(
                f"{where}: a draw of kg.RandomStreams in a step would be the same in all chains; "
                "use self.noise, whose methods are the same"
            )
        raise ModelError(
            f"{where}: the state {cell.title} is not a chain's own; keep it as a slot: give it "
            "from init, take it in step and return it"
        )
