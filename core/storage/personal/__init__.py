"""Files of a person beside the memory's own: settings, kept searches, texts that are being written."""
