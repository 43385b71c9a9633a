"""Coding agents on this machine: which files each reads, and our entries in them put in and taken out again."""
