"""What `alc eval` uses of the command line's inner modules, in one place: opening, options and output as in `alc`."""

from alacarte.cli.opening import open_corpus, open_model, open_vectors
from alacarte.cli.options import Json, K, Model, OtherVectors, Threads, Verbosity
from alacarte.cli.output import note, show_columns, show_json, show_line, voice, wrote
from alacarte.cli.outputs import check_file

__all__ = [
    "Json",
    "K",
    "Model",
    "OtherVectors",
    "Threads",
    "Verbosity",
    "check_file",
    "note",
    "open_corpus",
    "open_model",
    "open_vectors",
    "show_columns",
    "show_json",
    "show_line",
    "voice",
    "wrote",
]
