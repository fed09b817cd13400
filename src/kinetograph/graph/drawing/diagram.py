"""The content of a drawing: vertices, edges and groups.

A diagram does not depend on models or distributions. All formats (text, Mermaid, DOT, SVG) are
written from a `Diagram`, so that they show the same content.
"""

from dataclasses import dataclass, field

__all__ = ["Diagram", "Edge", "Group", "Vertex"]


@dataclass(frozen=True)
class Vertex:
    """One node of the drawing.

    `name` is the user's name. `caption` is the further text on the node: an expression, a
    distribution with its constants, or the value of a constant. `definition` is the text of its
    line in the listing, to the right of `handle`; a vertex with an empty definition has no line.
    """

    kind: str  # data, placeholder, variable, operation, control or distribution
    name: str = ""
    caption: str = ""
    definition: str = ""
    handle: str = ""
    shape: tuple[int, ...] = ()
    dims: tuple[str | None, ...] | None = None
    marks: tuple[str, ...] = ()  # any of: target, observed, factor
    small: bool = False  # true for constants and single operations
    group: int | None = None  # the index of the innermost group around it
    boxed: tuple[str, ...] = ()  # the dims that are shown by plates around it

    @property
    def size_text(self) -> str:
        """The lengths of axes without a plate, such as `85 × 2`."""
        dims = self.dims or (None,) * len(self.shape)
        pairs = zip(dims, self.shape, strict=True)
        return " × ".join(f"{d}: {n}" if d else str(n) for d, n in pairs if d not in self.boxed)


@dataclass(frozen=True)
class Edge:
    """An arrow between two vertices, given by their indices in the list.

    An arrow from a distribution to the array that follows it is dashed.
    """

    source: int
    target: int
    label: str = ""
    dashed: bool = False


@dataclass(frozen=True)
class Group:
    """Vertices that belong together, such as a loop, with title and notes.

    `outer` is the index of the group around it. A `plate` has vertices with the same named axes.
    """

    name: str
    title: str
    notes: tuple[str, ...] = ()
    outer: int | None = None
    plate: bool = False


@dataclass
class Diagram:
    """A drawing's vertices, edges and groups.

    The vertices are in the order of the listing, outer groups before inner ones.
    """

    vertices: list[Vertex] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)

    def around(self, vertex: Vertex) -> list[int]:
        """The groups that a vertex is in, the outermost first."""
        groups: list[int] = []
        place = vertex.group
        while place is not None:
            groups.insert(0, place)
            place = self.groups[place].outer
        return groups
