"""The cache outside of the memory: only what can be computed again."""
