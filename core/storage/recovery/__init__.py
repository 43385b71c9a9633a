"""Reads damaged files as far as possible, and repairs them."""
