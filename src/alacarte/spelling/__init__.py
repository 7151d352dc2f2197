"""Vectors from spelling, and spelling combined with contexts."""
