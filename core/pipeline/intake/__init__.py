"""What happens to a raw text as it comes in: normalised, redacted, its entities linked; no model, no network."""
