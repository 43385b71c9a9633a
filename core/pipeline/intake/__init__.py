"""Intake of a raw text: normalised, redacted, its entities linked; no model, no network."""
