"""Writes: raw texts as they come in, proposals that pass the gates, and notes from the outbox."""
