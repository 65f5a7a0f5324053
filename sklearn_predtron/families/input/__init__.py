"""What a call was given: X, y, weights and ids as rounds, tables as features, rows of a stream."""
