"""Mangling of private names with the name of their class.

`self.__p` in class `Tank` becomes `self._Tank__p`, because the rewritten function is compiled
outside of the class.
"""

import ast

__all__ = ["mangle_private_names"]


def mangle_private_names(tree: ast.AST, class_name: str | None) -> None:
    """Mangle all private names, in place.

    The compiler mangles names in nested classes itself.
    """
    owner = (class_name or "").lstrip("_")
    if owner:
        _Mangler(owner).visit(tree)


class _Mangler(ast.NodeVisitor):
    def __init__(self, owner: str) -> None:
        self.owner = owner

    def mangled(self, identifier: str) -> str:
        private = identifier.startswith("__") and not identifier.endswith("__")
        return f"_{self.owner}{identifier}" if private and "." not in identifier else identifier

    def generic_visit(self, node: ast.AST) -> None:
        for field in ("id", "attr", "arg", "name", "asname", "rest"):
            value = getattr(node, field, None)
            if isinstance(value, str):
                setattr(node, field, self.mangled(value))
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            node.names = [self.mangled(n) for n in node.names]
        super().generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for part in (*node.decorator_list, *node.bases, *node.keywords):
            self.visit(part)
