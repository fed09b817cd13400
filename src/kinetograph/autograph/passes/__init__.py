"""The steps from a function to the tree that is compiled; `transform.py` orders them."""
