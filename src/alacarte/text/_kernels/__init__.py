"""Bytes of UTF-8 → token ids, compiled: the rules of `alacarte.text.tokenizers` without an object for each token."""
