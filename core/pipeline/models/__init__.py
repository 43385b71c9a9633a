"""Language models: asking one, and reading its answer."""
