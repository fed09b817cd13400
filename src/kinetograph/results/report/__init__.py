"""`kg.report`: a run on one page of HTML."""
