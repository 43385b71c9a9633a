"""What the pipeline knows of notes, as signals for a search."""
