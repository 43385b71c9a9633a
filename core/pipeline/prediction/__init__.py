"""The order of what a session is given at its start, as code of the user may predict what will help."""
