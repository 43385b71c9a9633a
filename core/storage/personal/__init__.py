"""Files of a person beside the memory's own: settings, saved searches, texts that are being written."""
