"""Other forms of a value that are exact where the value rounds.

representations   the search for a form, and the rules for operations
squares           rules for squares of roots and absolute values
moves             operations that only move elements
conditions        conditions on data by which forms are chosen
by_value          derivatives of a form with respect to the value
"""
