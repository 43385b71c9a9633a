"""The hash function for names of what is kept. Loaded before everything else, so it loads nothing."""

from __future__ import annotations

try:
    # The same one; `hashlib` loads a library of ciphers beside it.
    from _blake2 import blake2b as blake2b
except ImportError:
    from hashlib import blake2b as blake2b
