"""Graphs computed in another way, or written again for other data.

where_derivatives, participation   a side of a `where`, a branch or a loop that is not used
batched_operations                 independent operations of one kind, computed as one operation
rowwise, affine                    loops that fill arrays, with rows as inputs and outputs
rewriter, bodies                   a graph written again where some of its nodes are replaced

The passes of the first three lines run while a graph is lowered, and leave the graph as it is.
"""
