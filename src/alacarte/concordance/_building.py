"""How text is read into the folder of a concordance: the whole of a new one, or a further segment."""

import hashlib
import warnings
from collections.abc import Sequence
from pathlib import Path

from alacarte._io.artifact import write_artifact
from alacarte.concordance._database import BuiltWith, Database
from alacarte.concordance._parts import SegmentParts
from alacarte.concordance._segment import StoredSegment, write_segment
from alacarte.concordance.folder import (
    DATABASE,
    UNFINISHED,
    VOCABULARY,
    delete,
    draft_of,
    is_concordance,
    locked,
    refuse_others,
    swap,
)
from alacarte.errors import AlacarteError, AlacarteWarning, BadCorpus, Hint
from alacarte.passes.checkpoint import Checkpoint, delete_checkpoint
from alacarte.passes.scan import run
from alacarte.passes.work import Work
from alacarte.text.corpus import Corpus
from alacarte.text.encoding import Encoder, Lexicon
from alacarte.text.tokenizers import Tokenizer, get_tokenizer
from alacarte.vectors.words import PackedWords, Vocabulary

WORDS_KIND = "concordance vocabulary"


def build_folder(
    folder: Path, words: PackedWords, source: Corpus, tokenizer: Tokenizer, work: Work, overwrite: bool
) -> None:
    """Read a corpus into a new concordance; one process at a time, from the first file to the last rename."""
    draft = draft_of(folder)
    if not tokenizer.named:
        raise AlacarteError("a concordance needs a tokenizer that has a name, to add text by it later")
    _check_names(source.columns)
    facts = BuiltWith(tokenizer.name, words_digest(words), tuple(source.columns))
    folder.parent.mkdir(parents=True, exist_ok=True)
    with locked(folder):
        if is_concordance(folder) and not overwrite:
            raise BadCorpus(
                f"{folder} is a concordance already; choose another path, or add to it",
                hint=Hint("Concordance(path).add(corpus)", "alc concordance add"),
            )
        if folder.exists():
            refuse_others(folder)
        if not _can_go_on(draft, facts):
            delete(draft)
            draft.mkdir(exist_ok=True)
            refuse_others(draft)
            write_artifact(draft / VOCABULARY, WORDS_KIND, words.tensors(), {"words": len(words)})
            Database.create(draft / DATABASE, facts)
        try:
            database = Database(draft / DATABASE)
            if not database.segments():  # else it was complete, and only not yet in its place
                index_segment(draft, database, words, source, work)
            swap(folder)
        except BaseException:
            if not (draft / UNFINISHED).exists():  # nothing that could be taken up
                delete(draft)
            raise


def index_segment(
    folder: Path,
    database: Database,
    words: PackedWords,
    source: Corpus,
    work: Work,
    before: Sequence[StoredSegment] = (),
) -> None:
    """Read text into a segment behind those that are there."""
    held = {(unit.name, unit.start) for segment in before for unit in segment.units if unit.name}
    lexicon, tokenizer = Lexicon(Vocabulary(words), grow=True), get_tokenizer(database.facts.tokenizer)
    parts = SegmentParts(lexicon, len(database.facts.columns), held)
    identity = {"concordance": str(folder.absolute()), "segments": len(before)}
    checkpoint = Checkpoint(folder / UNFINISHED, identity, work.checkpoint_seconds)
    with checkpoint.held():
        state = run(parts, source, Encoder(tokenizer, lexicon), work, "reading", checkpoint, keep=False)
        if not state.amounts.tokens_read:
            raise BadCorpus("the corpus holds no text; check the path and the name of the text column")
        _check_values(parts, database.facts.columns, first=not before)
        file = folder / f"segment-{len(before) + 1:04}.safetensors"
        database.add_segment(write_segment(file, parts.segment(), state.units), parts.values())
        delete_checkpoint(checkpoint.path)


def _check_values(parts: SegmentParts, columns: Sequence[str], first: bool) -> None:
    """Return a column that no document has is a misspelt one; of text that is added later, this may be meant."""
    names = ", ".join(repr(columns[place]) for place in parts.columns_without_values())
    if names and not first:
        warnings.warn(AlacarteWarning(f"no document of the added text has a value of {names}"), stacklevel=4)
    elif names:
        raise BadCorpus(
            f"no document has a value of {names}; check the name, as the file spells it",
            hint=Hint("or leave it out of columns=…", "or leave out --column"),
        )


def _can_go_on(draft: Path, facts: BuiltWith) -> bool:
    """Whether what was begun is the same work."""
    try:
        return not draft.is_symlink() and Database(draft / DATABASE).facts == facts and (draft / VOCABULARY).is_file()
    except BadCorpus:  # it is not there, or was cut off before it began
        return False


def _check_names(columns: Sequence[str]) -> None:
    if len({*map(str.lower, columns)}) < len(columns):
        raise BadCorpus(f"two columns have the same name: {', '.join(columns)}; name each once")


def words_digest(words: Sequence[str]) -> str:
    """Return a short name for exactly these words in this order."""
    data, offsets = Vocabulary(words).packed()
    digest = hashlib.blake2b(data.tobytes(), digest_size=16)
    digest.update(offsets.tobytes())
    return digest.hexdigest()
