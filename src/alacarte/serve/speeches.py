"""What `alc serve` opens on: the spoken addresses on the State of the Union since 1934, and a finding in them.

They are in the public domain; `scripts/speeches.py` writes the file.
"""

from importlib.resources import as_file, files

from alacarte._io.files import cache_folder
from alacarte.concordance import Concordance, is_concordance
from alacarte.text.corpus import Corpus
from alacarte.vectors.word_vectors import WordVectors

FILE = "speeches.jsonl.xz"
NAME = "State of the Union, 1934–2026"
COLUMNS = ["date", "speaker", "party"]
FINDING = {"phrase": "energy", "where": ["date<1970"], "other_where": ["date>=1970"]}  # what to look at first


def speeches(vectors: WordVectors) -> Concordance:
    """Return the speeches as a concordance in the cache, built the first time."""
    folder = cache_folder() / f"speeches-1-{vectors.fingerprint[:12]}.concordance"
    if not is_concordance(folder):
        with as_file(files("alacarte.serve") / FILE) as path:
            return Concordance.build(vectors, Corpus(path, columns=COLUMNS), folder, show_progress=False)
    return Concordance(folder)
