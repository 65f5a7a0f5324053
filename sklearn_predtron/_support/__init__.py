"""What every room uses, and nobody looks for: names and texts, warnings, types, parts, compatibility, the version."""
