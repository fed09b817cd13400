"""Operations on arrays: graph nodes, with shapes, types and checks."""
