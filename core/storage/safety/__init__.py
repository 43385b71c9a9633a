"""Keeps copies before anything can be lost: backups and quarantine."""
