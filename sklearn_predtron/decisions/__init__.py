"""What becomes of scores: a decision turns them into predictions, and owns what it must observe to do so."""
