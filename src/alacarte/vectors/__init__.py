"""Word vectors, the formats they are stored in, and their nearest neighbours."""
