"""Shared by all packages: names and texts, warnings, types, parts, compatibility, the version."""
