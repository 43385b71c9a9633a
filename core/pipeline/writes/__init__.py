"""Writes: raw texts as they come in, proposals that pass the gates, and the notes that come of them."""
