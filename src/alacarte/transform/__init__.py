"""The d × d matrix: least squares, its report, other people's matrices."""
