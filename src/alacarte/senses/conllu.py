"""CoNLL-U and CoNLL-U Plus: entities, senses or morphological forms as labelled spans."""

from collections.abc import Iterator, Mapping
from os import PathLike

from alacarte.errors import BadCorpus
from alacarte.senses.annotated import annotated_streams, decoded
from alacarte.text.corpus import Document

COLUMNS = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
EMPTY = ("", "_", "*", "O")
HEADER = "# global.columns ="
FORMS = "forms"


def read_conllu(path: str | PathLike[str], label: str = FORMS) -> Iterator[Document]:
    """Sentences as documents of tokens, with spans for what `label` asks for.

    - `"forms"`: every word, under its lemma and morphological features, as in `go|Tense=Past|VerbForm=Fin`;
    - the name of a column (of the ten, or of those that a `# global.columns` line names) or of a key in the MISC
      column, as in `NER` or `Sense`: the words that have a value there, under that value. Values that begin with
      `B-` and `I-` (or `S-`, `E-`) make spans of several words, under the name and the kind, as in `New York/LOC`.

    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "a.conllu"
    >>> row = "{}\\t{}\\t{}\\tVERB\\t_\\t{}\\t0\\troot\\t_\\t{}\\n"
    >>> _ = file.write_text(row.format(1, "New", "new", "_", "NER=B-LOC")
    ...     + row.format(2, "York", "york", "_", "NER=I-LOC") + row.format(3, "went", "go", "Tense=Past", "_"))
    >>> next(read_conllu(file)).spans[-1], next(read_conllu(file, "NER")).spans
    ((2, 3, 'go|Tense=Past'), ((0, 2, 'New York/LOC'),))
    """
    seen = False
    for stream in annotated_streams(path):
        names: tuple[str, ...] = COLUMNS
        rows: list[dict[str, str]] = []
        for number, line in enumerate([*decoded(stream).split("\n"), ""], 1):
            line = line.rstrip("\r")
            if line.startswith(HEADER):
                names = tuple(line.removeprefix(HEADER).split())
                if "FORM" not in names:
                    raise BadCorpus(
                        f"{stream.name}, line {number}: no column is called FORM; name the one with the words so"
                    )
            elif not line.strip():
                if rows:
                    spans = _forms(rows) if label == FORMS else _spans(rows, label)
                    seen = seen or bool(spans)
                    yield Document(tokens=[row["FORM"] for row in rows], spans=tuple(spans))
                    rows = []
            elif not line.startswith("#"):
                values = line.split("\t")
                if len(values) != len(names):
                    raise BadCorpus(
                        f"{stream.name}, line {number}: {len(values)} columns and not {len(names)} separated by tabs; "
                        "correct the line, or name the columns in a first line `# global.columns = ID FORM …`"
                    )
                row = dict(zip(names, values, strict=True))
                if row.get("ID", "1").isdigit():  # neither 1-2, a range that is listed again, nor 8.1, an empty node
                    rows.append(row)
    if not seen:
        raise BadCorpus(
            f"{path}: no word has a value for {label!r}; ask for 'forms', a column, or a key of the MISC column"
        )


def _forms(rows: list[dict[str, str]]) -> list[tuple[int, int, str]]:
    spans = []
    for place, row in enumerate(rows):
        lemma, features = row.get("LEMMA", "_"), row.get("FEATS", "_")
        if lemma not in ("", "_"):
            spans.append((place, place + 1, lemma if features in ("", "_") else f"{lemma}|{features}"))
    return spans


def _value(row: Mapping[str, str], label: str) -> str:
    if label in row:
        return row[label]
    pairs = (pair.partition("=") for pair in row.get("MISC", "_").split("|"))
    return next((value for name, _, value in pairs if name == label), "_")


def _spans(rows: list[dict[str, str]], label: str) -> list[tuple[int, int, str]]:
    spans: list[tuple[int, int, str]] = []
    open_kind: str | None = None
    start = 0

    def close(end: int) -> None:
        if open_kind is not None:
            spans.append((start, end, f"{' '.join(row['FORM'] for row in rows[start:end])}/{open_kind}"))

    for place, row in enumerate(rows):
        value = _value(row, label)
        mark, dash, kind = value.partition("-")
        staged = bool(dash) and mark in ("B", "I", "E", "S")
        if not (staged and mark in ("I", "E") and kind == open_kind):
            close(place)
            open_kind, start = (kind, place) if staged else (None, place)
        if not staged and value not in EMPTY:
            spans.append((place, place + 1, value))
    close(len(rows))
    return spans
