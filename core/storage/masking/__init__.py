"""Credentials taken out of all that a memory stores."""
