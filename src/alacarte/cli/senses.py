"""`alc senses`: vectors for word senses, and which sense a word has in a text."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from alacarte._io.options import option
from alacarte._io.printing import json_text
from alacarte.cli.command import command
from alacarte.cli.opening import open_corpus, open_model, open_vectors, refuse, write_lines
from alacarte.cli.options import Among, Conditions, Corpora, CorpusPaths, Files, K, ModelOptions, Seed
from alacarte.cli.output import (
    detail,
    neighbour_dicts,
    note,
    note_written,
    show,
    show_columns,
    show_line,
    show_neighbours,
    show_table,
    voice,
)
from alacarte.cli.outputs import OF_VECTORS, check_vectors
from alacarte.errors import AlacarteError, BadCorpus
from alacarte.senses.wordnet import WordNet, open_wordnet
from alacarte.text.options import CorpusOptions

if TYPE_CHECKING:
    from alacarte.model import ALaCarte
    from alacarte.senses.disambiguation import Answer
    from alacarte.senses.induction import InducedSenses
    from alacarte.senses.synset_vectors import SynsetVectors
    from alacarte.text.corpus import Corpus
    from alacarte.vectors.word_vectors import WordVectors

senses = typer.Typer(no_args_is_help=True, help="Word senses: vectors for synsets, and disambiguation.")

WordNetSource = Annotated[
    str | None,
    typer.Option(
        "--wordnet",
        metavar="DIR|FILE|NAME",
        show_default=False,
        help="WordNet 3.x database files (a folder or archive), nltk, or wn. [what is installed]",
    ),
]
SenseVectors = Annotated[str, typer.Option("--senses", metavar="FILE", help="Synset vectors made by alc senses build.")]
Method = Literal["graded", "combined", "semcor", "gloss"]


@senses.command()
@command()
def build(
    *,
    out: Path = option(..., "Where the vectors go, keyed by synset id.", metavar="FILE", writes=OF_VECTORS),
    model: ModelOptions,
    wordnet: WordNetSource = None,
    semcor: str | None = option(None, "SemCor, as distributed.", metavar="DIR|FILE"),
    method: Method = option(
        "graded", "graded: SemCor shrunk toward the gloss by count; combined: gloss where SemCor has nothing; or one."
    ),
    sense_keys: Path | None = option(
        None, "The same vectors keyed by sense key, too.", metavar="FILE", writes=OF_VECTORS
    ),
    counts: Path | None = option(
        None, "Save how often SemCor has each sense key, for a prior.", metavar="FILE", writes="file"
    ),
) -> None:
    """Make a vector for every WordNet synset, from SemCor, from glosses, or from both.

    \b
    alc senses build --model glove.6B.50d --wordnet dict/ \\
        --semcor semcor3.0.tar.xz \\
        --counts senses.tsv --out senses.safetensors
    alc senses build --model glove.6B.50d --wordnet dict/ --method gloss \\
        --out glosses.safetensors
    """
    from alacarte.senses.synset_vectors import by_sense_key

    if (semcor is None) != (method == "gloss"):
        raise typer.BadParameter("pass --semcor DIR|FILE, unless --method gloss, which does not read it")
    if counts is not None and semcor is None:
        raise typer.BadParameter("--counts are SemCor's; pass --semcor")
    check_vectors(out, None)
    net = open_wordnet(wordnet)
    built, counted = _build(open_model(model), net, semcor, method)
    built.save(out, overwrite=voice.overwrite)
    note_written(out)
    if sense_keys is not None:
        by_sense_key(built, net).save(sense_keys)
        note_written(sense_keys)
    if counts is not None:
        write_lines(counts, (f"{key}\t{count}" for key, count in sorted(counted.items())))
    seen = int((built.counts > 0).sum())
    report = built.report
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


def _build(
    model: "ALaCarte", wordnet: WordNet, semcor: str | None, method: Method
) -> "tuple[SynsetVectors, dict[str, int]]":
    from alacarte.senses.readers import read_semcor
    from alacarte.senses.synset_vectors import combined, gloss_vectors, graded, induce_synsets, sense_counts

    if semcor is None:
        return gloss_vectors(model, wordnet, show_progress=voice.progress), {}
    sentences = list(read_semcor(semcor))
    counts = sense_counts(sentences)
    seen = induce_synsets(model, sentences, wordnet, show_progress=voice.progress)
    if method == "semcor":
        return seen, counts
    glosses = gloss_vectors(model, wordnet, show_progress=voice.progress)
    return combined(seen, glosses) if method == "combined" else graded(seen, glosses), counts


@senses.command()
@command(as_json=False)
def disambiguate(
    *,
    senses: SenseVectors,
    model: ModelOptions,
    files: Files = None,
    context: list[str] | None = option(None, "A text itself, instead of files; repeat for more.", metavar="TEXT"),
    word: list[str] | None = option(None, "Only these words or lemmas; repeat for more.", short="-w", metavar="WORD"),
    wordnet: WordNetSource = None,
    prior: bool = option(
        True, "Weigh senses by how frequent they are, or by context alone.", flag="--prior/--no-prior"
    ),
    counts: Path | None = option(None, "Sense counts that alc senses build saved. [WordNet's own]", metavar="FILE"),
    spacy: str | None = option(None, "Parts of speech by a spaCy pipeline: en_core_web_sm.", metavar="NAME"),
    fallback: bool = option(False, "The first sense where there is nothing to compare."),
    least: float = option(0.0, "Leave out answers of less confidence.", metavar="P", minimum=0, maximum=1),
    jsonl: Annotated[
        bool, typer.Option("--jsonl", "--json", help="One JSON object per sentence, instead of tables.")
    ] = False,
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
    try:
        text = context or _texts(open_corpus(files or ["-"], reading))
    except BadCorpus as error:
        raise AlacarteError(f"{error.for_command_line()}; a text itself goes with --context TEXT") from None
    if not text:
        raise typer.BadParameter("no text is given; pass a file, --context TEXT, or text on standard input")
    net = open_wordnet(wordnet)
    opened = open_model(model)
    if spacy is None:
        sentences = [sentence for part in text for sentence in sentences_of_text(part, net)]
    else:
        sentences = _tag(text, spacy, net)
    wanted = {name.lower().replace(" ", "_") for name in word or []}
    prior_counts: dict[str, int] | Literal["wordnet"] | None = None
    if prior:
        prior_counts = "wordnet" if counts is None else _read_counts(counts)
    disambiguator = Disambiguator(opened, net, open_vectors(senses), counts=prior_counts, fallback=fallback)
    all_answers = iter(disambiguator.predict_all(sentences))
    unanswered = shown = 0
    for sentence in sentences:
        answers = [next(all_answers) for _ in sentence.instances]
        if wanted:
            answers = [answer for answer in answers if _is_wanted(answer, wanted)]
        unanswered += sum(answer.synset is None for answer in answers)
        answers = [answer for answer in answers if answer.synset is not None and answer.confidence >= least]
        shown += len(answers)
        _show(sentence.text, answers, jsonl)
    if unanswered:
        note(f"{unanswered} words have no answer: nothing to compare (pass --fallback for their first sense)")
    if wanted and not shown:
        note(f"none of {', '.join(sorted(wanted))} occurs as a word that WordNet lists")


def _texts(corpus: "Corpus") -> list[str]:
    """Return the documents as text; ready-made tokens are joined by spaces."""
    from alacarte.text.documents import Document, plain

    contents = [plain(item) if isinstance(item, Document) else item for item in corpus]
    texts = [content if isinstance(content, str) else " ".join(content) for content in contents]
    return [text for text in texts if text.strip()]


def _is_wanted(answer: "Answer", wanted: set[str]) -> bool:
    names = {answer.lemma, answer.word.lower().replace(" ", "_"), (answer.key or "").partition("%")[0]}
    return bool(names & wanted)


def _show(text: str, answers: "list[Answer]", jsonl: bool) -> None:
    if jsonl:
        print(json_text({"text": text, "senses": [answer.to_dict() for answer in answers]}, indent=None))
        return
    show_line(text)
    if answers:
        rows = [
            (answer.word, answer.synset, answer.key, f"{answer.confidence:.2f}", answer.source, answer.definition)
            for answer in answers
        ]
        show_columns(["word", "synset", "sense key", "confidence", "from", "gloss"], rows)


@senses.command()
@command()
def nearest(
    *,
    senses: SenseVectors,
    word: list[str] = option(
        ...,
        "A word, for all of its senses, or a sense: bank.n.01, bank%1:17:01::; repeat for more.",
        short="-w",
        metavar="WORD",
    ),
    vectors: str | None = option(
        None, "List the nearest words of these vectors. [nearest synsets]", metavar="FILE|NAME"
    ),
    wordnet: WordNetSource = None,
    gloss: bool = option(False, "One line per sense: its gloss, and the nearest words."),
    counts: Path | None = option(
        None, "With --gloss: how often SemCor has it, as alc senses build saved.", metavar="FILE"
    ),
    k: K = 10,
    among: Among = None,
) -> None:
    """List what is nearest to a sense: words, or other synsets. A plain word means all of its senses.

    \b
    alc senses nearest --word bank.n.01 --senses senses.safetensors \\
        --vectors glove.6B.50d --among 50000
    alc senses nearest --word bass --senses senses.safetensors \\
        --wordnet dict/ --vectors glove.6B.50d
    alc senses nearest --word bass --senses senses.safetensors \\
        --wordnet dict/ --gloss --counts counts.tsv
    """
    if not gloss:
        refuse("goes with --gloss, whose table has a column for them", "counts")
    opened = open_vectors(senses)
    net = open_wordnet(wordnet) if gloss or any(name not in opened for name in word) else None
    names: list[str] = []
    for asked in word:
        names += [asked] if net is None or asked in opened else _names(asked, opened, net)
    others = opened if vectors is None else open_vectors(vectors)
    if others.dimension != opened.dimension:
        raise AlacarteError(
            f"{vectors} has {others.dimension} dimensions and {senses} {opened.dimension}; pass the vectors that the "
            "senses were built with"
        )
    lists = {name: others.nearest(opened[name], k, among=among, exclude=[name]) for name in names}
    if gloss and net is not None:
        _show_glosses(lists, net, None if counts is None else _read_counts(counts))
        return
    show({name: neighbour_dicts(neighbours) for name, neighbours in lists.items()}, lambda: show_neighbours(lists))


def _show_glosses(lists: dict[str, list[tuple[str, float]]], wordnet: "WordNet", counts: dict[str, int] | None) -> None:
    synsets = {name: wordnet.by_key(name) if "%" in name else wordnet.synset(name) for name in lists}
    facts: dict[str, dict[str, Any]] = {name: {"definition": synsets[name].definition} for name in lists}
    if counts is not None:
        for name, synset in synsets.items():
            facts[name]["seen"] = sum(counts.get(key, 0) for key in synset.keys)
    rows = [[name, *known.values(), ", ".join(word for word, _ in lists[name])] for name, known in facts.items()]
    names = ["sense", "gloss", *([] if counts is None else ["seen"]), "nearest"]
    result = {name: {**known, "nearest": neighbour_dicts(lists[name])} for name, known in facts.items()}
    show(result, lambda: show_columns(names, rows))


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
    k: K = 10,
    limit: int = option(5000, "Contexts used at most, chosen at random.", minimum=2),
    seed: Seed = 0,
    paths: CorpusPaths = None,
    corpus: Corpora = None,
    where: Conditions = None,
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
    documents = open_corpus([*(corpus or []), *(paths or [])], text, where=where)
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


# ---------------------------------------------------------------------------------------------------- helpers


def _tag(text: list[str], name: str, wordnet: "WordNet") -> list[Any]:
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


def _read_counts(path: Path) -> dict[str, int]:
    try:
        rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines() if line]
        return {key: int(count) for key, count in rows}
    except ValueError:
        raise AlacarteError(
            f"{path}: not sense counts (a sense key, a tab, a number a line); see --counts of build"
        ) from None
