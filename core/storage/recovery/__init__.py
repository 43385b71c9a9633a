"""Damaged files read as far as they can be, and made sound again."""
