"""What is known of a function's data flow before it is rewritten."""
