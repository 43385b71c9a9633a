"""What writes: raw texts as they come in, proposals that pass the gates, and what is brought into the graph."""
