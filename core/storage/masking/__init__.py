"""Masks credentials in all that a memory stores, and searches it for what is left."""
