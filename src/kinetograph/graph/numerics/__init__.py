"""Mathematics on tensors, with values and derivatives right everywhere."""
