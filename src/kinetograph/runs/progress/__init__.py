"""The progress display of a run, in terminals and notebooks."""
