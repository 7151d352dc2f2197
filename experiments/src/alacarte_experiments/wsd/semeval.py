"""Test sets in XML with their answers: the unified evaluation framework, SemEval-2013 task 12, SemEval-2015 task 13."""

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import NamedTuple

from alacarte.errors import BadCorpus
from alacarte.senses import Instance, Sentence
from alacarte.senses.wordnet import POS_OF_NUMBER, simple_pos


class Gold(NamedTuple):
    """One answer: the elements from `first` to `last` have these sense keys."""

    first: str
    last: str
    keys: tuple[str, ...]


def read_semeval(
    xml: str | PathLike[str], gold: str | PathLike[str] | None = None, *, last_word: bool = False
) -> Iterator[Sentence]:
    """The sentences of a test set; with `gold`, the file with the answers, its instances know their sense keys.

    The format of either file is seen from its content. Instances are the elements `<instance>`, or, where a key
    file names spans of `<wf>` elements (SemEval-2015), those spans that have WordNet senses. An instance to which
    the key file gives no WordNet sense has no keys.

    `last_word` reads spans as the paper's authors did: an answer for several words is an answer for the last of them,
    which has the keys of all spans that end with it.
    """
    answers = [] if gold is None else read_gold(gold)
    if last_word:
        answers = _for_last_words(answers)
    by_first: dict[str, list[Gold]] = {}
    for answer in answers:
        by_first.setdefault(answer.first, []).append(answer)
    used: set[str] = set()
    for document, element in _elements(Path(xml)):
        yield _sentence(element, document, by_first, used)
    unused = [first for first in by_first if first not in used]
    if unused:
        raise BadCorpus(
            f"{gold}: {len(unused):,} of {len(by_first):,} answers, such as that of {unused[0]!r}, belong to nothing "
            f"in {xml}; give the two files of the same test set"
        )


def _for_last_words(answers: list[Gold]) -> list[Gold]:
    keys: dict[str, dict[str, None]] = {}
    for answer in answers:
        keys.setdefault(answer.last, {}).update(dict.fromkeys(answer.keys))
    return [Gold(last, last, tuple(senses)) for last, senses in keys.items()]


def _elements(path: Path) -> Iterator[tuple[str, ET.Element]]:
    """(id of the text, `<sentence>` element), one at a time."""
    document = ""
    any_sentence = False
    try:
        for event, element in ET.iterparse(path, events=("start", "end")):
            if event == "start" and element.tag == "text":
                document = element.get("id", "")
            elif event == "end" and element.tag == "sentence":
                any_sentence = True
                yield document, element
                element.clear()
    except (ET.ParseError, LookupError, ValueError) as error:  # the last two: an unknown encoding
        raise BadCorpus(f"{path} is damaged: malformed XML ({error}); fetch it again") from None
    except OSError as error:
        raise BadCorpus(f"{path}: {error.strerror}; check the path") from None
    if not any_sentence:
        raise BadCorpus(f"{path}: holds no <sentence> element; give the XML file of a test set")


def _sentence(element: ET.Element, document: str, by_first: dict[str, list[Gold]], used: set[str]) -> Sentence:
    words: list[str] = []
    places: dict[str, int] = {}
    instances: list[Instance] = []
    parts = [part for part in element if part.tag in ("wf", "instance")]
    for place, part in enumerate(parts):
        words.append(" ".join("".join(part.itertext()).replace("_", " ").split()) or "_")
        places[part.get("id", "")] = place
    for place, part in enumerate(parts):
        name = part.get("id", "")
        answers = by_first.get(name, [])
        used.update([name] if answers else [])
        if part.tag == "instance":
            keys = tuple(key for answer in answers for key in answer.keys)
            instances += _instance(name, place, place + 1, parts, keys)
            continue
        for answer in answers:
            end = places.get(answer.last)
            if end is None or end < place:
                raise BadCorpus(
                    f"the answer for {answer.first} to {answer.last} does not lie within one sentence; correct the "
                    "key file"
                )
            if answer.keys:
                instances += _instance(name, place, end + 1, parts, answer.keys)
    return Sentence(tuple(words), tuple(instances), element.get("id", ""), document)


def _instance(name: str, start: int, end: int, parts: list[ET.Element], keys: tuple[str, ...]) -> list[Instance]:
    """The instance; none for words with neither an answer nor a part of speech that WordNet knows."""
    lemmas = [part.get("lemma") or "".join(part.itertext()) for part in parts[start:end]]
    pos = simple_pos(parts[end - 1].get("pos", "")) or ""
    if end - start > 1 or not pos:
        pos = next((POS_OF_NUMBER[key.partition("%")[2][:1]] for key in keys), pos)
    if not pos:
        return []
    return [Instance(start, end, "_".join(lemmas).replace(" ", "_").lower(), pos, keys, name)]


def read_gold(path: str | PathLike[str]) -> list[Gold]:
    """The answers of a key file in any of the three formats; other identifiers than WordNet's are left out.

    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "keys"
    >>> _ = file.write_text("d0.t1\\td0.t2\\tbn:001n\\twn:hot_dog%1:13:01::\\n")
    >>> read_gold(file)
    [Gold(first='d0.t1', last='d0.t2', keys=('hot_dog%1:13:01::',))]
    """
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise BadCorpus(f"{path}: byte {error.start} is not UTF-8; give the key file of a test set") from None
    except OSError as error:
        raise BadCorpus(f"{path}: {error.strerror}; check the path") from None
    answers: list[Gold] = []
    for number, line in enumerate(lines, 1):
        fields = line.split()
        if not fields:
            continue
        senses = [field.removeprefix("wn:") for field in fields if "%" in field]
        names = [field for field in fields if "%" not in field and not field.startswith(("bn:", "wiki:"))]
        if any(key.partition("%")[2][:1] not in POS_OF_NUMBER for key in senses) or not 1 <= len(names) <= 2:
            raise BadCorpus(
                f"{path}, line {number}: not an answer, which has an id (or two, or a text and an id) and then sense "
                f"keys as in bank%1:17:01::, but {line[:80]!r}"
            )
        spans = len(names) == 2 and "\t" in line  # SemEval-2015 names the first and the last word; 2013 text and word
        answers.append(Gold(names[0] if spans else names[-1], names[-1], tuple(senses)))
    return answers
