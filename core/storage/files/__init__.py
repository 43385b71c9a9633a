"""Files of any kind: replaced in one step, exchanged, locked, watched."""
