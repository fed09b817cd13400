"""What is drawn: vertices and edges, without any notion of models or distributions.

Every format (text, Mermaid, DOT, SVG) is written from a `Diagram`, so all of them show the same.
"""

from dataclasses import dataclass, field

__all__ = ["Diagram", "Edge", "Group", "Vertex"]


@dataclass(frozen=True)
class Vertex:
    """One node of the drawing.

    `name` is how the user calls it and `caption` what else is written on it: an expression, a
    distribution with its constants, the value of a constant. `definition` is its line of the
    listing, right of `handle`; a vertex with an empty definition has no line of its own.
    """

    kind: str  # data, placeholder, variable, operation, control or distribution
    name: str = ""
    caption: str = ""
    definition: str = ""
    handle: str = ""
    shape: tuple[int, ...] = ()
    dims: tuple[str | None, ...] | None = None
    marks: tuple[str, ...] = ()  # of: target, observed, factor
    small: bool = False  # constants and single operations
    group: int | None = None  # the place of the innermost group around it
    boxed: tuple[str, ...] = ()  # the dims that plates around it tell

    @property
    def size_text(self) -> str:
        """The lengths of axes without a plate: `school: 8`, `85 × 2`; nothing for a number."""
        dims = self.dims or (None,) * len(self.shape)
        pairs = zip(dims, self.shape, strict=True)
        return " × ".join(f"{d}: {n}" if d else str(n) for d, n in pairs if d not in self.boxed)


@dataclass(frozen=True)
class Edge:
    """An arrow between two vertices, given by their places in the list; dashed for `follows`."""

    source: int
    target: int
    label: str = ""
    dashed: bool = False


@dataclass(frozen=True)
class Group:
    """Vertices that belong together, such as those of a loop, with a title and remarks.

    `outer` is the place of the group around it. A `plate` is of what has the same named axes.
    """

    name: str
    title: str
    notes: tuple[str, ...] = ()
    outer: int | None = None
    plate: bool = False


@dataclass
class Diagram:
    """Vertices, in the order of the listing, and edges; perhaps groups, the outer ones first."""

    vertices: list[Vertex] = field(default_factory=list)
    edges: list[Edge] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)

    def around(self, vertex: Vertex) -> list[int]:
        """The groups that a vertex is in, the outermost first."""
        found: list[int] = []
        place = vertex.group
        while place is not None:
            found.insert(0, place)
            place = self.groups[place].outer
        return found
