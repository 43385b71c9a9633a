"""Memories in the formats of other programs: read into records, laid over a draft, and written out again. Pure."""
