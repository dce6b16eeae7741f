"""Two ways of asking a model about numbers, compared so that the result survives review."""
