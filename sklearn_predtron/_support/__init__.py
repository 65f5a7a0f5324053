"""Common ground of all rooms: names and texts, warnings, types, parts, compatibility, the version."""
