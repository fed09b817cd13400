"""Random numbers: the cipher and the draws made of its words."""
