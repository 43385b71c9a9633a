"""The memory pipeline: raw text in, audited notes out."""
