"""The dataflow graph: nodes, arrays, operations, compilation and inspection."""
