"""Random bits: a cipher, keys made of seeds, and random numbers.

cipher       four words from a key and a counter
keys         keys made of seeds and members
mixing       keys made of the values of arrays
source       the bits of one draw: uniform and normal numbers
quantile     the quantile of the normal distribution
rejection    rejection sampling: for each element the first proposal that is accepted
draws        numbers for chains
"""
