"""The parts that a memory owns: each has a state or a resource of its own."""
