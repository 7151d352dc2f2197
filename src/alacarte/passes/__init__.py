"""How a pass over text is run: threads, memory limits, checkpoints."""
