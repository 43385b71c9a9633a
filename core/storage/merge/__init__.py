"""Versions of notes, facts and files brought together."""
