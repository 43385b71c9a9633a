"""Merges versions of notes, facts and files."""
