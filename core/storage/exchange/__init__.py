"""Files that memories come from and go to: a source read within bounds, a whole memory as one file, a vault."""
