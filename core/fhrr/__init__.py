"""Phase vectors (Fourier holographic reduced representations): seeded keys and the operations on them.

A vector has D complex elements of modulus 1. Binding adds phases, unbinding subtracts them, a superposition is a
plain sum (Plate, "Holographic Reduced Representation", 2003, chapter 4).
"""
