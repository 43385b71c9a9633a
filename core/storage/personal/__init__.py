"""What a person has beside the memory: folders of pages, and texts that are being written."""
