"""What all rooms use: atomic files, saved artifacts, progress bars, compiled helpers."""
