"""Helpers of tests: memories to begin with, programs beside us, faults, a driven app. One kit is one subject."""
