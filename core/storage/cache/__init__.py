"""The cache outside of the memory: what can be computed anew."""
