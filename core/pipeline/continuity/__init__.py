"""Sessions of agents: what happens in them, and what is said of it when somebody picks one up again. Pure."""
