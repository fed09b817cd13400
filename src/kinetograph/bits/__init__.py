"""Random bits: a cipher, keys from seeds, the bits of one draw, and numbers made of them.

cipher       four words from a key and a counter
keys         from seeds and members to keys
source       the bits of one draw: uniform and normal numbers
quantile     of the normal distribution
rejection    for every element the first proposal that is accepted
draws        numbers for chains
"""
