"""What becomes of each fact beside what is stored already: add, update, delete, none."""
