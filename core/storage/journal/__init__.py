"""The log of every change: ledger.db, and what it last saw of the files."""
