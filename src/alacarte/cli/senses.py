"""`alc senses`: vectors for word senses, and which sense a word has in a text."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from alacarte._io.options import option
from alacarte.cli.command import command
from alacarte.cli.opening import open_corpus, open_model, open_vectors, read_numbers, refuse, write_lines
from alacarte.cli.options import AMONG, FILES, SEED, WHERE, K, ModelOptions, Sources
from alacarte.cli.output import (
    detail,
    neighbour_dicts,
    note,
    note_written,
    show,
    show_columns,
    show_line,
    show_table,
    voice,
)
from alacarte.cli.outputs import OF_VECTORS, check_vectors
from alacarte.errors import AlacarteError, BadCorpus
from alacarte.senses.wordnet import WordNet, open_wordnet
from alacarte.text.options import CorpusOptions

if TYPE_CHECKING:
    from alacarte.senses.disambiguation import Answer
    from alacarte.senses.induction import InducedSenses
    from alacarte.vectors.word_vectors import WordVectors

senses = typer.Typer(no_args_is_help=True, help="Word senses: vectors for synsets, and disambiguation.")

WORDNET = option(
    None,
    "WordNet 3.x database files (a folder or archive), nltk, or wn. [what is installed]",
    metavar="DIR|FILE|NAME",
)
SENSES = option(..., "Synset vectors made by alc senses build.", metavar="FILE")


@senses.command()
@command()
def build(
    *,
    out: Path = option(..., "Where the vectors go, keyed by synset id.", metavar="FILE", writes=OF_VECTORS),
    model: ModelOptions,
    wordnet: str | None = WORDNET,
    semcor: str | None = option(None, "SemCor, as distributed.", metavar="DIR|FILE"),
    method: Literal["graded", "combined", "semcor", "gloss"] = option(
        "graded", "graded: SemCor shrunk toward the gloss by count; combined: gloss where SemCor has nothing; or one."
    ),
    near: Path | None = option(
        None, "Vectors from near words too, which disambiguate takes beside these.", metavar="FILE", writes=OF_VECTORS
    ),
    counts: Path | None = option(
        None, "Save how often SemCor has each sense key, for a prior.", metavar="FILE", writes="file"
    ),
) -> None:
    """Make a vector for every WordNet synset, from SemCor, from glosses, or from both.

    \b
    alc senses build --model glove.6B.50d --wordnet dict/ \\
        --semcor semcor3.0.tar.xz \\
        --counts senses.tsv --near near.safetensors --out senses.safetensors
    alc senses build --model glove.6B.50d --wordnet dict/ --method gloss \\
        --out glosses.safetensors
    """
    from alacarte.senses.readers import read_semcor
    from alacarte.senses.synset_vectors import (
        SynsetVectors,
        combined,
        gloss_vectors,
        graded,
        induce_synsets,
        sense_counts,
    )

    if (semcor is None) != (method == "gloss"):
        raise typer.BadParameter("pass --semcor DIR|FILE, unless --method gloss, which does not read it")
    if semcor is None and (counts is not None or near is not None):
        raise typer.BadParameter("--counts and --near are of SemCor; pass --semcor")
    files = {False: out} if near is None else {False: out, True: near}
    for file in files.values():
        check_vectors(file, None)
    net, opened = open_wordnet(wordnet), open_model(model)
    sentences = [] if semcor is None else list(read_semcor(semcor))

    def vectors(near: bool) -> SynsetVectors:
        if method == "semcor":
            return induce_synsets(opened, sentences, net, near=near, show_progress=voice.progress)
        glosses = gloss_vectors(opened, net, near=near, show_progress=voice.progress)
        if method == "gloss":
            return glosses
        seen = induce_synsets(opened, sentences, net, near=near, show_progress=voice.progress)
        return graded(seen, glosses) if method == "graded" else combined(seen, glosses)

    views = {nearby: vectors(nearby) for nearby in files}
    for nearby, file in files.items():
        views[nearby].save(file, overwrite=voice.overwrite)
        note_written(file)
    built = views[False]
    if counts is not None:
        write_lines(counts, (f"{key}\t{count}" for key, count in sorted(sense_counts(sentences).items())))
    seen, report = int((built.counts > 0).sum()), built.report
    facts = {
        "out": str(out),
        "synsets": len(built),
        "seen": seen,
        "annotations": report.annotations,
        "unknown_sense_keys": report.unknown,
        "wordnet": net.name,
        "version": net.version,
    }
    lines = [f"{len(built):,} synsets have a vector, {seen:,} of them from annotated text; they are in {out}."]
    show(facts, *lines, *([] if semcor is None else [f"{report}."]), summary=True)


@senses.command()
@command()
def disambiguate(
    *,
    senses: str = SENSES,
    model: ModelOptions,
    files: list[str] | None = FILES,
    context: list[str] | None = option(None, "A text itself, instead of files; repeat for more.", metavar="TEXT"),
    word: list[str] | None = option(None, "Only these words or lemmas; repeat for more.", short="-w", metavar="WORD"),
    near: str | None = option(None, "Those that alc senses build --near saved.", metavar="FILE"),
    wordnet: str | None = WORDNET,
    prior: bool = option(True, "Use how frequent each sense is, too, or the context alone.", flag="--prior/--no-prior"),
    counts: Path | None = option(None, "Sense counts that alc senses build saved. [WordNet's own]", metavar="FILE"),
    spacy: str | None = option(None, "Parts of speech by a spaCy pipeline: en_core_web_sm.", metavar="NAME"),
    fallback: bool = option(False, "The first sense where there is nothing to compare."),
    reading: CorpusOptions,
) -> None:
    """Say which sense the words of a text have: sense keys, glosses and confidences.

    \b
    alc senses disambiguate story.txt --word bank --model glove.6B.50d \\
        --senses senses.safetensors --wordnet dict/
    alc senses disambiguate --context "He sat on the bank of the river." \\
        --model glove.6B.50d --senses senses.safetensors --wordnet dict/
    """
    from alacarte.senses.disambiguation import Disambiguator
    from alacarte.senses.plain_text import sentences_of_text

    if not prior:
        refuse("makes the prior; leave it out with --no-prior", "counts")
    if files and context:
        raise typer.BadParameter("pass files or --context TEXT, and not both")
    text = context or _texts(files or ["-"], reading)
    net, opened = open_wordnet(wordnet), open_model(model)
    if spacy is None:
        sentences = [sentence for part in text for sentence in sentences_of_text(part, net)]
    else:
        sentences = _tag(text, spacy, net)
    weighed: dict[str, int] | Literal["wordnet"] | None = "wordnet" if prior else None
    if counts is not None:
        weighed = {key: int(number) for key, number in read_numbers(counts).items()}
    disambiguator = Disambiguator(
        opened,
        net,
        open_vectors(senses),
        near=None if near is None else open_vectors(near),
        counts=weighed,
        fallback=fallback,
    )
    all_answers = iter(disambiguator.predict_all(sentences))
    asked = [(sentence.text, [next(all_answers) for _ in sentence.instances]) for sentence in sentences]
    if word:
        wanted = {name.lower().replace(" ", "_") for name in word}
        asked = [(said, [answer for answer in answers if _is_wanted(answer, wanted)]) for said, answers in asked]
        if not any(answers for _, answers in asked):
            note(f"none of {', '.join(word)} occurs as a word that WordNet lists")
    found = [(said, [answer for answer in answers if answer.synset is not None]) for said, answers in asked]
    unanswered = sum(len(answers) for _, answers in asked) - sum(len(answers) for _, answers in found)
    if unanswered:
        note(f"{unanswered} words have no answer: nothing to compare (pass --fallback for their first sense)")
    facts = [{"text": said, "senses": [answer.to_dict() for answer in answers]} for said, answers in found]
    show(facts, lambda: _show_answers(found))


def _texts(files: list[str], reading: CorpusOptions) -> list[str]:
    """Return documents as text; ready-made tokens are joined by spaces."""
    from alacarte.text.documents import Document, plain

    try:
        contents = [plain(item) if isinstance(item, Document) else item for item in open_corpus(files, reading)]
    except BadCorpus as error:
        raise AlacarteError(f"{error.for_command_line()}; a text itself goes with --context TEXT") from None
    texts = [content if isinstance(content, str) else " ".join(content) for content in contents]
    if not any(text.strip() for text in texts):
        raise typer.BadParameter("no text is given; pass a file, --context TEXT, or text on standard input")
    return texts


def _tag(text: list[str], name: str, wordnet: WordNet) -> list[Any]:
    from alacarte.errors import require
    from alacarte.senses.plain_text import sentences_of_doc

    spacy = require("spacy", extra="spacy", purpose="tagging parts of speech")
    try:
        nlp = spacy.load(name)
    except OSError:
        raise AlacarteError(
            f"spaCy has no pipeline {name!r}; run `python -m spacy download {name}`, or leave --spacy out"
        ) from None
    return [sentence for doc in nlp.pipe(text) for sentence in sentences_of_doc(doc, wordnet)]


def _is_wanted(answer: "Answer", wanted: set[str]) -> bool:
    names = {answer.lemma, answer.word.lower().replace(" ", "_"), (answer.key or "").partition("%")[0]}
    return bool(names & wanted)


def _show_answers(found: "list[tuple[str, list[Answer]]]") -> None:
    for text, answers in found:
        show_line(text)
        rows = [
            (answer.word, answer.synset, answer.key, f"{answer.confidence:.2f}", answer.source, answer.definition)
            for answer in answers
        ]
        if rows:
            show_columns(["word", "synset", "sense key", "confidence", "from", "gloss"], rows)


@senses.command()
@command()
def nearest(
    *,
    senses: str = SENSES,
    word: list[str] = option(
        ...,
        "A word, for all of its senses, or a sense: bank.n.01, bank%1:17:01::; repeat for more.",
        short="-w",
        metavar="WORD",
    ),
    vectors: str | None = option(
        None, "List the nearest words of these vectors. [nearest synsets]", metavar="FILE|NAME"
    ),
    wordnet: str | None = WORDNET,
    counts: Path | None = option(
        None, "Show how often SemCor has each sense, as alc senses build saved.", metavar="FILE"
    ),
    k: int = K,
    among: int | None = AMONG,
) -> None:
    """List the senses of a word: the gloss of each, and what is nearest to it, words or other synsets.

    \b
    alc senses nearest --word bass --senses senses.safetensors \\
        --wordnet dict/ --vectors glove.6B.50d --among 50000
    """
    net, opened = open_wordnet(wordnet), open_vectors(senses)
    others = opened if vectors is None else open_vectors(vectors)
    seen = {} if counts is None else read_numbers(counts)
    facts: dict[str, dict[str, Any]] = {}
    for name in [name for asked in word for name in _names(asked, opened, net)]:
        synset = net.synset(name)
        facts[name] = {"gloss": synset.definition}
        facts[name] |= {"seen": int(sum(seen.get(key, 0) for key in synset.keys))} if seen else {}
        facts[name]["nearest"] = neighbour_dicts(others.nearest(opened[name], k, among=among, exclude=[name]))
    rows = [
        [name, *list(known.values())[:-1], ", ".join(item["word"] for item in known["nearest"])]
        for name, known in facts.items()
    ]
    show(facts, lambda: show_columns(["sense", "gloss", *(["seen"] if seen else []), "nearest"], rows))


def _names(asked: str, senses: "WordVectors", wordnet: "WordNet") -> list[str]:
    """Return the keys of `senses` for a sense key, an id or a word."""
    if "%" in asked:
        return [wordnet.by_key(asked).id]
    if asked.count(".") >= 2:
        return [wordnet.synset(asked).id]
    names = [synset.id for _, synset in wordnet.find(asked) if synset.id in senses]
    if not names:
        raise AlacarteError(
            f"no sense of {asked!r} has a vector here; name a synset such as bank.n.01, or another word"
        )
    return names


@senses.command()
@command()
def induce(
    *,
    word: str = option(..., "The word or phrase.", short="-w", metavar="WORD"),
    model: ModelOptions,
    number: str = option("auto", "How many senses; auto finds out.", short="-n", metavar="N|auto"),
    out: Path | None = option(None, "Save the vectors, keyed by word#1, word#2, …", metavar="FILE", writes=OF_VECTORS),
    k: int = K,
    limit: int = option(5000, "Contexts used at most, chosen at random.", minimum=2),
    seed: int = SEED,
    sources: Sources,
    where: list[str] | None = WHERE,
    text: CorpusOptions,
) -> None:
    """Group the contexts of a word in a corpus: a vector, the nearest words and typical contexts for each group.

    \b
    alc senses induce --word bank --model glove.6B.50d --corpus wiki.txt
    alc senses induce --word bank --model glove.6B.50d --corpus wiki.txt \\
        --number 3 --out bank.vec
    alc senses induce --word bank --model glove.6B.50d \\
        --corpus speeches.concordance --where "party=D"
    """
    if number != "auto" and not (number.isdigit() and int(number)):
        raise typer.BadParameter(f"{number!r} is neither a number nor auto", param_hint="--number")
    if out is not None:
        check_vectors(out, None, [f"{word}#1"])
    documents = open_corpus(sources.places, text, where=where)
    opened = open_model(model)
    from alacarte.senses.induction import induce_senses

    found = induce_senses(
        opened,
        documents,
        word,
        "auto" if number == "auto" else int(number),
        nearest=k,
        limit=limit,
        seed=seed,
        show_progress=voice.progress,
    )
    if out is not None:
        found.vectors.save(out, overwrite=voice.overwrite)
        note_written(out)
    show(found, lambda: _show_induced(found, limit, number))


def _show_induced(found: "InducedSenses", limit: int, number: str) -> None:
    from alacarte.senses.induction import FOLDS

    total = int(found.occurrences.counts.sum())
    if total > limit:
        note(f"{len(found.occurrences):,} of {total:,} contexts are used; --limit takes more")
    for groups, (score, bound) in enumerate(zip(found.scores, found.bounds, strict=True), start=2):
        detail(f"{groups} groups: likeness {score:.2f}; senses are below {bound:.2f}")
    documents = len(set(found.occurrences.documents.tolist()))
    if number == "auto" and documents < 2 * FOLDS:
        note(
            f"the contexts are in {documents} documents, too few to hold some out and tell how many senses there "
            "are; cut the text into more (--unit), or pass --number"
        )
    elif len(found) == 1 and found.scores:
        note(
            f"one sense: two groups of contexts are too much alike (likeness {found.scores[0]:.2f}, senses are below "
            f"{found.bounds[0]:.2f}); --number 2 groups them all the same"
        )
    show_table(found)
    for sense in found:
        for example in sense.examples:
            show_line(f"{sense.name}  {example}")
