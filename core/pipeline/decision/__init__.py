"""Decides about each extracted fact beside the stored notes: add, update, delete or none."""
