"""Calls of public functions that cannot be carried out as they are written.

words     what other libraries call our parameters: the one table of it
names     what other libraries call our functions
answers   a keyword that there is not, too many values or too few: what to write
depths    errors of libraries about what a function was given, told in our words
public    gives all public functions and modules these answers
"""
