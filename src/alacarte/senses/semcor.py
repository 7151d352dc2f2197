"""SemCor as Princeton distributes it: SGML with unquoted attributes, one element a line."""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import zip_longest
from os import PathLike

from alacarte.errors import BadCorpus
from alacarte.senses.annotated import Instance, Sentence, annotated_streams, decoded, short_name
from alacarte.senses.wordnet import POS_OF_NUMBER

TAGFILES = re.compile(r"(?:^|/)br-[a-z]\d\d$")
WORD = re.compile(r"<(wf|punc)\b([^>]*)>(.*)</\1>$")
ATTRIBUTE = re.compile(r"([a-z]+)=([^\s>]+)")
STRUCTURE = re.compile(r"</?(?:contextfile|context|p|s)\b[^>]*>$")
MARKER = re.compile(r"\((?:a|p|ip)\)")  # some keys have it after the head of their cluster; WordNet's own do not
SENTENCE = re.compile(r"<s\b[^>]*\bsnum=(\w+)")


def read_semcor(path: str | PathLike[str], *, repair: bool = True, missing: bool = True) -> Iterator[Sentence]:
    """The sentences of SemCor (1.6 to 3.0) from its folder, its archive or one of its files (`br-a01`).

    A multiword such as `took_place` is one word of the sentence, `took place`. A word that was given several
    senses has all of them. Words that annotators marked as having no sense (yet) are plain words. Some keys of
    adjectives are written with a marker, `single(a)`, that WordNet's own do not have; `repair=False` leaves these.
    SemCor numbers a sense 0 (`wnsn=0`) where its WordNet no longer has it; `missing=False` leaves such keys out.

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
    for stream in annotated_streams(path, TAGFILES):
        for sentence in _sentences(decoded(stream, "latin-1"), stream.name, short_name(stream), missing):
            yield repaired(sentence) if repair else sentence


def repaired(sentence: Sentence) -> Sentence:
    """The sentence with sense keys as WordNet writes them.

    >>> old = Sentence(("only",), (Instance(0, 1, "only", "a", ("only%5:00:00:single(a):00",)),))
    >>> repaired(old).instances[0].keys
    ('only%5:00:00:single:00',)
    """
    if not any("(" in key for instance in sentence.instances for key in instance.keys):
        return sentence
    instances = (
        replace(instance, keys=tuple(MARKER.sub("", key) for key in instance.keys)) for instance in sentence.instances
    )
    return replace(sentence, instances=tuple(instances))


def _sentences(text: str, place: str, document: str, missing: bool) -> Iterator[Sentence]:
    words: list[str] | None = None  # None: outside of any sentence
    instances: list[Instance] = []
    number = ""
    for line_number, line in enumerate(text.split("\n"), 1):
        line = line.strip()
        if not line:
            continue
        match = WORD.match(line)
        if match is not None and words is not None:
            _add_word(match, words, instances, f"{document}.s{number}", missing)
        elif match is None and STRUCTURE.match(line):
            if line.startswith(("<s ", "<s>")):
                named = SENTENCE.match(line)
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
