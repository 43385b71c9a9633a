"""Masks credentials in all that a memory stores."""
