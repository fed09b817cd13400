"""Operations on arrays: nodes of the graph, with their shapes, types and checks."""
