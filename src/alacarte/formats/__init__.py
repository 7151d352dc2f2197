"""Every file format that word vectors come in, and the table that picks one."""
