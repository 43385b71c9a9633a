"""Reconciles the files with the journal: finds what other programs did, logs it, and restores lost changes."""
