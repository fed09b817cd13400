"""Other forms of a value that are exact where the value rounds.

representations   the search for a form, and where rules are registered
logarithms        rules for logarithms, log odds and probits
squares           rules for squares of roots and absolute values
moves             operations that only move elements
conditions        conditions on data by which forms are chosen
by_value          derivatives of a form with respect to the value

The terms of a model choose their forms when the model is made. Squares, Cholesky factors and log
densities that are arrays (`kg.log_density`) choose forms when they are written, and not in a pass
at lowering. The reason is that a form in a branch or loop can need another captured value, row or
loop variable. While the line is written, the body can still get that input. Later, the body and all
nodes that follow from it would have to be copied wherever a graph is lowered. The rewriter does not
copy bodies that keep a state, print, check or draw random numbers. Models, programs and results
find nodes by their identity, so each of them would need the old graph and the new one.

If new values of data change a choice of forms, `model.set_data` writes the nodes with this choice
again (`graph.rewriting.rewriter`).
"""
