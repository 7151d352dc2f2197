"""Compiled inner loops, each with a plain-Python twin in the tests."""
