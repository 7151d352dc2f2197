"""Text from anywhere, cut into documents, tokens and ids."""
