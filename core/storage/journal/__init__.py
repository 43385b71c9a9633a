"""The log of every change: change sets in the database, and what it last saw of the files."""
