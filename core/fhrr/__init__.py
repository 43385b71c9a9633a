"""Phase vectors (Fourier holographic reduced representations): seeded keys and the operations on them.

A vector has D complex elements of modulus 1. Binding adds phases, unbinding subtracts them, a superposition is a
plain sum (Plate, "Holographic Reduced Representation", 2003, chapter 4).
"""

import os

# Two threads on a busy machine make a small matrix product a hundred times slower, and the products here are
# small. The variable is read once, when numpy is loaded: this package is the first of the engine to load it.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
