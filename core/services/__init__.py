"""What a memory owns: each part has a state or a resource of its own, and `Memory` introduces them to each other."""
