"""Language models: how one is asked, and how what it answers is read."""
