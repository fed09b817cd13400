"""Graphs computed in another way, or written again for other data.

where_derivatives, paths, slopes   derivatives of a side of a `where` that is not used
participation                      values that learn whether a branch or loop used them
batched_operations                 independent operations of one kind, computed as one operation
rowwise, array_uses, row_tensors   loops that fill arrays, with rows as inputs and outputs
affine                             integers that move by a constant step
joined_columns                     alike operations of a loop, written as operations on arrays
branches_as_sides                  branches, written as sides of `where`
rewriter, bodies                   a graph written again where some of its nodes are replaced

The rewriter runs when a model gets other data. The passes of the other lines run while a graph is
lowered, and leave the graph as it is.
"""
