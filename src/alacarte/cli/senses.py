"""`alc senses`: vectors for word senses, and which sense a word has in a text."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from alacarte.cli import options as o
from alacarte.cli.opening import open_corpus, open_model, open_vectors, write_lines
from alacarte.cli.output import (
    neighbour_dicts,
    note,
    show_columns,
    show_json,
    show_line,
    show_neighbours,
    voice,
    wrote,
)
from alacarte.cli.outputs import VECTORS, check_outputs, check_vectors
from alacarte.errors import AlacarteError, BadCorpus

if TYPE_CHECKING:
    from alacarte.model import ALaCarte
    from alacarte.senses.disambiguation import Answer
    from alacarte.senses.synset_vectors import SynsetVectors
    from alacarte.senses.wordnet import WordNet
    from alacarte.text.corpus import Corpus
    from alacarte.vectors.word_vectors import WordVectors

app = typer.Typer(no_args_is_help=True, help="Word senses: vectors for synsets, and disambiguation.")

WordNetSource = Annotated[
    str | None,
    typer.Option(
        "--wordnet",
        metavar="DIR|FILE|NAME",
        show_default=False,
        help="WordNet 3.x database files (a folder or archive), nltk, or wn. [what is installed]",
    ),
]
Senses = Annotated[str, typer.Option(metavar="FILE", help="Synset vectors made by alc senses build.")]
Method = Literal["graded", "combined", "semcor", "gloss"]


@app.command()
def build(
    ctx: typer.Context,
    out: Annotated[Path, typer.Option(metavar="FILE", help="Where the vectors go, keyed by synset id.")],
    model: o.Model = None,
    wordnet: WordNetSource = None,
    semcor: Annotated[
        str | None, typer.Option(metavar="DIR|FILE", help="SemCor, as distributed.", show_default=False)
    ] = None,
    method: Annotated[
        Method,
        typer.Option(
            help="graded: SemCor shrunk toward the gloss by count; combined: gloss where SemCor has nothing; or one."
        ),
    ] = "graded",
    strength: Annotated[
        float | None,
        typer.Option(
            min=0, metavar="K", show_default=False, help="With graded: occurrences that the gloss is worth. [3]"
        ),
    ] = None,
    sense_keys: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The same vectors keyed by sense key, too.")
    ] = None,
    counts: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Save how often SemCor has each sense key, for a prior.")
    ] = None,
    transform: o.TransformFile = None,
    vectors: o.OtherVectors = None,
    to: o.To = None,
    overwrite: o.Overwrite = False,
    as_json: o.Json = False,
    verbosity: o.Verbosity = None,
) -> None:
    """Make a vector for every WordNet synset, from SemCor, from glosses, or from both.

    \b
    alc senses build --model glove.6B.50d --wordnet dict/ \\
        --semcor semcor3.0.tar.xz \\
        --counts senses.tsv --out senses.safetensors
    alc senses build --model glove.6B.50d --wordnet dict/ --method gloss \\
        --out glosses.safetensors
    """
    from alacarte.senses.synset_vectors import STRENGTH, by_sense_key

    if (semcor is None) != (method == "gloss"):
        raise typer.BadParameter("pass --semcor DIR|FILE, unless --method gloss, which does not read it")
    if strength is not None and method != "graded":
        raise typer.BadParameter("--strength goes with --method graded")
    if counts is not None and semcor is None:
        raise typer.BadParameter("--counts are SemCor's; pass --semcor")
    check_vectors(out, to)
    check_outputs(ctx, out=VECTORS, sense_keys=VECTORS, counts=None)
    net = _open_wordnet(wordnet)
    opened = open_model(model, vectors=vectors, transform=transform)
    built, counted = _build(opened, net, semcor, method, STRENGTH if strength is None else strength)
    built.save(out, to, overwrite=overwrite)
    wrote(out)
    if sense_keys is not None:
        by_sense_key(built, net).save(sense_keys)
        wrote(sense_keys)
    if counts is not None:
        write_lines(counts, (f"{key}\t{count}" for key, count in sorted(counted.items())))
    seen = int((built.counts > 0).sum())
    report = built.report
    if as_json:
        show_json(
            {
                "out": str(out),
                "synsets": len(built),
                "seen": seen,
                "annotations": report.annotations,
                "unknown_sense_keys": report.unknown,
                "wordnet": net.name,
                "version": net.version,
            }
        )
    elif not voice.quiet:
        show_line(f"{len(built):,} synsets have a vector, {seen:,} of them from annotated text; they are in {out}.")
        if semcor is not None:
            show_line(f"{report}.")


def _build(
    model: "ALaCarte", wordnet: "WordNet", semcor: str | None, method: Method, strength: float
) -> "tuple[SynsetVectors, dict[str, int]]":
    from alacarte.senses.semcor import read_semcor
    from alacarte.senses.synset_vectors import combined, gloss_vectors, graded, induce_synsets, sense_counts

    if semcor is None:
        return gloss_vectors(model, wordnet, show_progress=voice.progress), {}
    sentences = list(read_semcor(semcor))
    counts = sense_counts(sentences)
    seen = induce_synsets(model, sentences, wordnet, show_progress=voice.progress)
    if method == "semcor":
        return seen, counts
    glosses = gloss_vectors(model, wordnet, show_progress=voice.progress)
    return combined(seen, glosses) if method == "combined" else graded(seen, glosses, strength), counts


@app.command()
def disambiguate(
    senses: Senses,
    model: o.Model = None,
    files: o.Files = None,
    context: Annotated[
        list[str] | None,
        typer.Option(metavar="TEXT", show_default=False, help="A text itself, instead of files; repeat for more."),
    ] = None,
    word: Annotated[
        list[str] | None,
        typer.Option(
            "--word", "-w", metavar="WORD", show_default=False, help="Only these words or lemmas; repeat for more."
        ),
    ] = None,
    wordnet: WordNetSource = None,
    prior: Annotated[
        bool, typer.Option("--prior/--no-prior", help="Weigh senses by how frequent they are, or by context alone.")
    ] = True,
    counts: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", show_default=False, help="Sense counts that alc senses build saved. [WordNet's own]"
        ),
    ] = None,
    spacy: Annotated[
        str | None,
        typer.Option(metavar="NAME", show_default=False, help="Parts of speech by a spaCy pipeline: en_core_web_sm."),
    ] = None,
    fallback: Annotated[
        bool, typer.Option("--fallback", help="The first sense where there is nothing to compare.")
    ] = False,
    least: Annotated[
        float, typer.Option(min=0, max=1, metavar="P", help="Leave out answers of less confidence.")
    ] = 0.0,
    jsonl: Annotated[
        bool, typer.Option("--jsonl", "--json", help="A JSON object a sentence, instead of tables.")
    ] = False,
    transform: o.TransformFile = None,
    vectors: o.OtherVectors = None,
    unit: o.Unit = "line",
    format: o.CorpusFormat = None,
    column: o.TextColumn = "text",
    verbosity: o.Verbosity = None,
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

    if counts is not None and not prior:
        raise typer.BadParameter("--counts make the prior; leave one of --counts and --no-prior out")
    if files and context:
        raise typer.BadParameter("pass files or --context TEXT, and not both")
    try:
        text = context or _texts(open_corpus(files or ["-"], unit=unit, format=format, text=column))
    except BadCorpus as error:
        raise AlacarteError(f"{error.for_command_line()}; a text itself goes with --context TEXT") from None
    if not text:
        raise typer.BadParameter("no text is given; pass a file, --context TEXT, or text on standard input")
    net = _open_wordnet(wordnet)
    opened = open_model(model, vectors=vectors, transform=transform)
    if spacy is None:
        sentences = [sentence for part in text for sentence in sentences_of_text(part, net)]
    else:
        sentences = _tagged(text, spacy, net)
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
    """The documents as text; ready-made tokens are joined by spaces."""
    from alacarte.text.corpus import Document

    contents = [(item.text or item.tokens) if isinstance(item, Document) else item for item in corpus]
    texts = [content if isinstance(content, str) else " ".join(content or ()) for content in contents]
    return [text for text in texts if text.strip()]


def _is_wanted(answer: "Answer", wanted: set[str]) -> bool:
    names = {answer.lemma, answer.word.lower().replace(" ", "_"), (answer.key or "").partition("%")[0]}
    return bool(names & wanted)


def _show(text: str, answers: "list[Answer]", jsonl: bool) -> None:
    if jsonl:
        show_json({"text": text, "senses": [answer.to_dict() for answer in answers]}, indent=None)
        return
    show_line(text)
    if answers:
        rows = [
            (answer.word, answer.synset, answer.key, f"{answer.confidence:.2f}", answer.source, answer.definition)
            for answer in answers
        ]
        show_columns(["word", "synset", "sense key", "confidence", "from", "gloss"], rows)


@app.command()
def nearest(
    senses: Senses,
    word: Annotated[
        list[str],
        typer.Option(
            "--word",
            "-w",
            metavar="WORD",
            help="A word, for all of its senses, or a sense: bank.n.01, bank%1:17:01::; repeat for more.",
        ),
    ],
    vectors: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|NAME", show_default=False, help="List the nearest words of these vectors. [nearest synsets]"
        ),
    ] = None,
    wordnet: WordNetSource = None,
    gloss: Annotated[bool, typer.Option("--gloss", help="A line a sense: its gloss, and the nearest words.")] = False,
    counts: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", show_default=False, help="With --gloss: how often SemCor has it, as alc senses build saved."
        ),
    ] = None,
    k: o.K = 10,
    among: o.Among = None,
    as_json: o.Json = False,
    verbosity: o.Verbosity = None,
) -> None:
    """List what is nearest to a sense: words, or other synsets. A plain word stands for all of its senses.

    \b
    alc senses nearest --word bank.n.01 --senses senses.safetensors \\
        --vectors glove.6B.50d --among 50000
    alc senses nearest --word bass --senses senses.safetensors \\
        --wordnet dict/ --vectors glove.6B.50d
    alc senses nearest --word bass --senses senses.safetensors \\
        --wordnet dict/ --gloss --counts counts.tsv
    """
    if counts is not None and not gloss:
        raise typer.BadParameter("--counts goes with --gloss, whose table has a column for them")
    opened = open_vectors(senses)
    net = _open_wordnet(wordnet) if gloss or any(name not in opened for name in word) else None
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
        _show_glosses(lists, net, None if counts is None else _read_counts(counts), as_json)
    elif as_json:
        show_json({name: neighbour_dicts(neighbours) for name, neighbours in lists.items()})
    else:
        show_neighbours(lists)


def _show_glosses(
    lists: dict[str, list[tuple[str, float]]], wordnet: "WordNet", counts: dict[str, int] | None, as_json: bool
) -> None:
    synsets = {name: wordnet.by_key(name) if "%" in name else wordnet.synset(name) for name in lists}
    facts: dict[str, dict[str, Any]] = {name: {"definition": synsets[name].definition} for name in lists}
    if counts is not None:
        for name, synset in synsets.items():
            facts[name]["seen"] = sum(counts.get(key, 0) for key in synset.keys)
    if as_json:
        show_json({name: {**known, "nearest": neighbour_dicts(lists[name])} for name, known in facts.items()})
        return
    rows = [[name, *known.values(), ", ".join(word for word, _ in lists[name])] for name, known in facts.items()]
    show_columns(["sense", "gloss", *([] if counts is None else ["seen"]), "nearest"], rows)


def _names(asked: str, senses: "WordVectors", wordnet: "WordNet") -> list[str]:
    """The keys of `senses` that a sense key, an id or a word stands for."""
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


# ---------------------------------------------------------------------------------------------------- helpers


def _open_wordnet(source: str | None) -> "WordNet":
    from alacarte.senses.wordnet import open_wordnet

    return open_wordnet(source)


def _tagged(text: list[str], name: str, wordnet: "WordNet") -> list[Any]:
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
