"""The numbers as people and programs read them."""
