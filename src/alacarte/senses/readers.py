"""Annotated corpora: SemCor, CoNLL-U and spaCy's entities."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import zip_longest
from os import PathLike
from pathlib import Path
from typing import Any

from alacarte.errors import BadCorpus
from alacarte.senses.annotated import Instance, Sentence
from alacarte.senses.wordnet import POS_OF_NUMBER
from alacarte.text.documents import Document
from alacarte.text.sources import file_streams, find_files
from alacarte.text.streams import read_whole

# SemCor
TAGFILES = re.compile(r"(?:^|/)br-[a-z]\d\d$")
SEMCOR_WORD = re.compile(r"<(wf|punc)\b([^>]*)>(.*)</\1>$")
ATTRIBUTE = re.compile(r"([a-z]+)=([^\s>]+)")
STRUCTURE = re.compile(r"</?(?:contextfile|context|p|s)\b[^>]*>$")
KEY_MARKER = re.compile(r"\((?:a|p|ip)\)")  # some keys have it after the head of their cluster; WordNet's own do not
SEMCOR_SENTENCE = re.compile(r"<s\b[^>]*\bsnum=(\w+)")

# CoNLL-U
CONLL_COLUMNS = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC")
NO_VALUE = ("", "_", "*", "O")
HEADER = "# global.columns ="
FORMS = "forms"


def read_texts(
    path: str | PathLike[str], only: re.Pattern[str] | None = None, encoding: str = "utf-8"
) -> Iterator[tuple[str, str]]:
    """Return (name, text) of each file behind a path, folder, glob or archive, in the order of the names.

    Parameters
    ----------
    path : str or path
        Where the corpus is.
    only : pattern, optional
        Take the files whose path it matches.
    encoding : str
        The encoding of the files.

    Raises
    ------
    BadCorpus
        If there is no such file, or if one has another encoding.
    """
    texts: list[tuple[str, str]] = []
    for file in find_files(path):
        for stream in file_streams(file):
            if only is not None and not only.search(stream.name.replace("\\", "/")):
                continue
            try:
                text = read_whole(stream).decode(encoding)
            except UnicodeDecodeError as error:
                raise BadCorpus(f"{stream.name}: byte {error.start} is not {encoding}; convert the file") from None
            texts.append((stream.name, text))
    if not texts:
        pattern = "" if only is None else f" whose path has the form {only.pattern}"
        raise BadCorpus(f"{path}: holds no file{pattern}; check that it is the corpus as it is distributed")
    yield from sorted(texts)


def read_semcor(path: str | PathLike[str], *, repair: bool = True, missing: bool = True) -> Iterator[Sentence]:
    """Return the sentences of SemCor (1.6 to 3.0) as Princeton distributes it.

    A multiword such as `took_place` is one word of the sentence, `took place`. A word with several senses has all
    of their keys. Words that annotators marked as having no sense are plain words.

    Parameters
    ----------
    path : str or path
        Its folder, its archive, or one of its files (`br-a01`).
    repair : bool
        Remove the markers of some adjectives, as in `single(a)`, that WordNet's own keys do not have.
    missing : bool
        Keep the keys that SemCor numbers 0 (`wnsn=0`) because its WordNet no longer has them.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "br-a01"
    >>> _ = file.write_text('''<contextfile concordance=brown>
    ... <context filename=br-a01 paras=yes>
    ... <s snum=1>
    ... <wf cmd=ignore pos=PRP>It</wf>
    ... <wf cmd=done pos=VB lemma=take_place wnsn=1 lexsn=2:30:00::>took_place</wf>
    ... <punc>.</punc>
    ... </s>
    ... </context>
    ... </contextfile>
    ... ''')
    >>> sentence = next(read_semcor(file))
    >>> sentence.text, sentence.instances[0].keys
    ('It took place .', ('take_place%2:30:00::',))
    """
    for name, text in read_texts(path, TAGFILES, "latin-1"):
        for sentence in _semcor_sentences(text, name, missing):
            yield repaired(sentence) if repair else sentence


def repaired(sentence: Sentence) -> Sentence:
    """Return the sentence with sense keys as WordNet writes them.

    Examples
    --------
    >>> old = Sentence(("only",), (Instance(0, 1, "only", "a", ("only%5:00:00:single(a):00",)),))
    >>> repaired(old).instances[0].keys
    ('only%5:00:00:single:00',)
    """
    if not any("(" in key for instance in sentence.instances for key in instance.keys):
        return sentence
    instances = (
        replace(instance, keys=tuple(KEY_MARKER.sub("", key) for key in instance.keys))
        for instance in sentence.instances
    )
    return replace(sentence, instances=tuple(instances))


def _semcor_sentences(text: str, place: str, missing: bool) -> Iterator[Sentence]:
    document = Path(place.replace("\\", "/")).name
    words: list[str] | None = None  # None: outside of any sentence
    instances: list[Instance] = []
    number = ""
    for line_number, line in enumerate(text.split("\n"), 1):
        line = line.strip()
        if not line:
            continue
        match = SEMCOR_WORD.match(line)
        if match is not None and words is not None:
            _add_word(match, words, instances, f"{document}.s{number}", missing)
        elif match is None and STRUCTURE.match(line):
            if line.startswith(("<s ", "<s>")):
                named = SEMCOR_SENTENCE.match(line)
                words, instances, number = [], [], named.group(1) if named else str(line_number)
            elif line.startswith("</s") and words is not None:
                if words:
                    yield Sentence(tuple(words), tuple(instances), f"{document}.s{number}", document)
                words = None
        else:
            where = "outside of a sentence" if match is not None else "not an element of SemCor"
            raise BadCorpus(
                f"{place}, line {line_number}: {where}: {line[:80]!r}; the file is damaged or is not SemCor as "
                "distributed (an element a line)"
            )
    if words is not None:
        raise BadCorpus(f"{place}: ends inside of sentence {number}; the file is cut off, unpack it again")


def _add_word(match: re.Match[str], words: list[str], instances: list[Instance], sentence: str, missing: bool) -> None:
    kind, attributes, text = match.groups()
    words.append(text.replace("_", " ") if kind == "wf" else text)
    values = dict(ATTRIBUTE.findall(attributes)) if "lexsn=" in attributes else {}
    lemma, senses = values.get("lemma"), [sense for sense in values.get("lexsn", "").split(";") if sense]
    if not missing:
        numbers = values.get("wnsn", "").split(";")
        senses = [sense for sense, number in zip_longest(senses, numbers) if sense and number != "0"]
    if lemma is None or not senses or senses[0][0] not in POS_OF_NUMBER:
        return
    place = len(words) - 1
    keys = tuple(f"{lemma.lower()}%{sense}" for sense in senses)
    instances.append(
        Instance(place, place + 1, lemma.lower(), POS_OF_NUMBER[senses[0][0]], keys, f"{sentence}.w{place + 1}")
    )


def read_conllu(path: str | PathLike[str], label: str = FORMS) -> Iterator[Document]:
    r"""Return the sentences of CoNLL-U or CoNLL-U Plus files as documents with labelled spans.

    Parameters
    ----------
    path : str or path
        A file, a folder, a glob or an archive.
    label : str
        "forms": every word is labelled with its lemma and morphological features, as in
        `go|Tense=Past|VerbForm=Fin`. Otherwise the name of a column (one of the ten, or of those that a
        `# global.columns` line names) or of a key in the MISC column, as in `NER` or `Sense`: the words with a value
        there are labelled with it. Values that begin with `B-` and `I-` (or `S-`, `E-`) make spans of several words,
        labelled with the words and the kind, as in `New York/LOC`.

    Raises
    ------
    BadCorpus
        If a line is malformed, or if no word has such a label.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "a.conllu"
    >>> row = "{}\t{}\t{}\tVERB\t_\t{}\t0\troot\t_\t{}\n"
    >>> _ = file.write_text(row.format(1, "New", "new", "_", "NER=B-LOC")
    ...     + row.format(2, "York", "york", "_", "NER=I-LOC") + row.format(3, "went", "go", "Tense=Past", "_"))
    >>> next(read_conllu(file)).spans[-1], next(read_conllu(file, "NER")).spans
    ((2, 3, 'go|Tense=Past'), ((0, 2, 'New York/LOC'),))
    """
    seen = False
    for file, text in read_texts(path):
        names: tuple[str, ...] = CONLL_COLUMNS
        rows: list[dict[str, str]] = []
        for number, line in enumerate([*text.split("\n"), ""], 1):
            line = line.rstrip("\r")
            if line.startswith(HEADER):
                names = tuple(line.removeprefix(HEADER).split())
                if "FORM" not in names:
                    raise BadCorpus(f"{file}, line {number}: no column is called FORM; name the one with the words so")
            elif not line.strip():
                if rows:
                    spans = _form_spans(rows) if label == FORMS else _labelled_spans(rows, label)
                    seen = seen or bool(spans)
                    yield Document(tokens=[row["FORM"] for row in rows], spans=tuple(spans))
                    rows = []
            elif not line.startswith("#"):
                values = line.split("\t")
                if len(values) != len(names):
                    raise BadCorpus(
                        f"{file}, line {number}: {len(values)} columns and not {len(names)} separated by tabs; "
                        "correct the line, or name the columns in a first line `# global.columns = ID FORM …`"
                    )
                row = dict(zip(names, values, strict=True))
                if row.get("ID", "1").isdigit():  # neither 1-2, a range that is listed again, nor 8.1, an empty node
                    rows.append(row)
    if not seen:
        raise BadCorpus(
            f"{path}: no word has a value for {label!r}; ask for 'forms', a column, or a key of the MISC column"
        )


def _form_spans(rows: list[dict[str, str]]) -> list[tuple[int, int, str]]:
    pairs = [(row.get("LEMMA", "_"), row.get("FEATS", "_")) for row in rows]
    return [
        (place, place + 1, lemma if features in ("", "_") else f"{lemma}|{features}")
        for place, (lemma, features) in enumerate(pairs)
        if lemma not in ("", "_")
    ]


def _value(row: Mapping[str, str], label: str) -> str:
    if label in row:
        return row[label]
    pairs = (pair.partition("=") for pair in row.get("MISC", "_").split("|"))
    return next((value for name, _, value in pairs if name == label), "_")


def _labelled_spans(rows: list[dict[str, str]], label: str) -> list[tuple[int, int, str]]:
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
        if not staged and value not in NO_VALUE:
            spans.append((place, place + 1, value))
    close(len(rows))
    return spans


def entity_name(entity: Any) -> str:
    """Return the entity's link to a knowledge base, or its text and kind, as in `Paris/GPE`."""
    return str(entity.kb_id_ or f"{entity.text}/{entity.label_}")


def spacy_documents(docs: Iterable[Any], label: Callable[[Any], str] = entity_name) -> Iterator[Document]:
    """Return spaCy's `Doc` objects as documents whose entities are labelled spans.

    Parameters
    ----------
    docs : iterable of spacy.tokens.Doc
        What `nlp.pipe(texts)` gives.
    label : callable
        Gives the label of an entity; by default its link to a knowledge base, or its text and kind.

    Examples
    --------
    >>> spacy = __import__("spacy")
    >>> nlp = spacy.blank("en")
    >>> ruler = nlp.add_pipe("entity_ruler")
    >>> ruler.add_patterns([{"label": "GPE", "pattern": "Paris"}])
    >>> next(spacy_documents([nlp("I love Paris.")])).spans
    ((7, 12, 'Paris/GPE'),)
    """
    for doc in docs:
        spans = tuple((entity.start_char, entity.end_char, label(entity)) for entity in doc.ents)
        yield Document(doc.text, spans=spans)
