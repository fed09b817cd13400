"""Mathematical functions of tensors, with accurate values and derivatives everywhere."""
