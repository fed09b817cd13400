"""Other forms of a value, of which an expression may be right where the value rounds."""
