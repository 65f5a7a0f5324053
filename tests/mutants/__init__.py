"""Small bugs, planted one at a time, that the tests must notice: `python -m tests.mutants` from the checkout's root."""
