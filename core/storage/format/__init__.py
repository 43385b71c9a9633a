"""The formats of the memory: bytes of each note and fact beside their typed form."""
