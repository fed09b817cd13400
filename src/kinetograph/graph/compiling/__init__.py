"""From a graph to a compiled function, and its calls."""
