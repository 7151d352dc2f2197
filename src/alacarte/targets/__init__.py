"""What to embed, and where it occurs in encoded text."""
