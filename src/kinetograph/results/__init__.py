"""Results of runs: diagnostics, summaries, warnings and reports."""
