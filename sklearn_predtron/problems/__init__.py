"""The prediction spaces: loss, representation and inference, compiled."""
