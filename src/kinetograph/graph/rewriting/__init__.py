"""Other graphs for the same values, or the same graph for other values."""
