"""How contexts are read, and what is added up over them."""
