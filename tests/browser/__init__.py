"""The built pages in a browser without a window."""
