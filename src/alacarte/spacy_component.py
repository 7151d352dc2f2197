"""spaCy: a pipeline component that gives words without a vector one, from their contexts in each text.

    nlp = spacy.load("en_core_web_sm")
    nlp.add_pipe("alacarte", config={"model": "glove.6B.50d"})
    doc = nlp("They stewed the blorp with garlic and onions.")
    doc[3].vector, doc[3]._.vector_origin        # a vector in the space of the model's, "contexts"

spaCy imports this file wherever it starts (it is named in the package's entry points), so all else is imported when
the component is first used. Needs `pip install 'alacarte-embeddings[spacy]'`.
"""

from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import srsly
from spacy.language import Language
from spacy.tokens import Doc, Span, Token

if TYPE_CHECKING:
    from alacarte._io.arrays import Singles
    from alacarte.model import ALaCarte

KEY = "alacarte"  # in doc.user_data: for each text of a token without a vector, [its vector, its origin]


class TokenVectors:
    """Give each token of a spaCy pipeline a vector: that of a model, or one from the text itself.

    Tokens that the model has vectors for get these. Any other token gets the vector that `model.embed` computes from
    the text: from the windows around all its occurrences in the `Doc` and, if the model has learned spelling, from its
    spelling. A token is looked up as the model's tokenizer reads it, which most often means in lower case. If neither
    contexts nor spelling give a vector, `token.has_vector` is False and the vector is zeros, as always in spaCy.

    `vector`, `has_vector`, `vector_norm` and `similarity` of tokens, spans and docs use these vectors. The vocabulary
    does not change: components that were trained with its vectors still see them. `token._.vector_origin` says where
    a vector comes from: "vectors", "contexts", "spelling", "contexts and spelling", or None.

    Parameters
    ----------
    nlp : spacy.language.Language
        The pipeline.
    name : str
        The name of the component in it.
    model : str, optional
        A model that ships with the package ("glove.6B.50d"), or the path of a saved one; it is loaded when it is first
        needed. A model in memory is set by `nlp.add_pipe("alacarte").embedder = model`.
    form : bool, optional
        Whether to use spelling; by default if the model has learned it.

    Notes
    -----
    The vectors are saved and sent with a `Doc` (`to_bytes`, `DocBin` with `store_user_data`, `nlp.pipe(…,
    n_process=2)`), but spaCy cannot save that it should use them; `set_hooks(doc)` sets that again.

    Examples
    --------
    >>> import spacy
    >>> from alacarte import ALaCarte, Transform, WordVectors
    >>> nlp = spacy.blank("en")
    >>> vectors = WordVectors(["a", "b"], [[1.0, 0.0], [0.0, 1.0]])
    >>> nlp.add_pipe("alacarte").embedder = ALaCarte(vectors, Transform(np.eye(2)))
    >>> doc = nlp("A blorp b b")
    >>> [token.vector.tolist() for token in doc[:2]], doc[1]._.vector_origin
    ([[1.0, 0.0], [1.0, 2.0]], 'contexts')
    """

    def __init__(self, nlp: Language, name: str = KEY, model: str | None = None, form: bool | None = None) -> None:
        self.nlp, self.name, self.source, self.form = nlp, name, model, form
        self._model: ALaCarte | None = None

    @property
    def embedder(self) -> "ALaCarte":
        """The model that vectors come from; the name `model` is spaCy's own."""
        if self._model is None:
            from alacarte.errors import AlacarteError
            from alacarte.model import pretrained_names
            from alacarte.model.saving import pretrained_folder

            if self.source is None:
                raise AlacarteError(
                    f"the pipeline component {self.name!r} has no model; pass config={{'model': …}} with a name or the "
                    f"folder of a saved model, or set nlp.get_pipe({self.name!r}).embedder"
                )
            named = self.source in pretrained_names() and not Path(self.source).exists()
            self._model = self._load(pretrained_folder(self.source) if named else self.source)
        return self._model

    @embedder.setter
    def embedder(self, model: "ALaCarte") -> None:
        self._model = model

    def _load(self, folder: str | Path) -> "ALaCarte":
        """Return a saved model; if it was learned with this pipeline's tokenizer, which is in no file, with that."""
        from alacarte.model import ALaCarte
        from alacarte.model.saving import describe_model
        from alacarte.text.tokenizers import from_spacy

        tokenizer = from_spacy(self.nlp)
        own = describe_model(folder).get("tokenizer") == tokenizer.name
        return ALaCarte.load(folder, tokenizer=tokenizer if own else None)

    # ------------------------------------------------------------------------------------------------ vectors

    def __call__(self, doc: Doc) -> Doc:
        """Compute vectors for the words of a text that have none."""
        texts = {token.text for token in doc if not token.is_space}
        pieces = {text: self.embedder.tokens(text) for text in texts}
        context = [piece for token in doc for piece in pieces.get(token.text, ())]
        last = {piece: place for place, piece in enumerate(context)}
        first = {piece: len(context) - 1 - place for place, piece in enumerate(reversed(context))}
        left, right = self.embedder.settings.left, self.embedder.settings.right
        made = {}
        for text in sorted(texts):
            if pieces[text] and not (len(pieces[text]) == 1 and pieces[text][0] in self.embedder.vectors):
                near = context
                if len(pieces[text]) == 1 and self.embedder.settings.unknown != "drop":
                    # Long texts have many such words, most of them once: what is beyond their windows is not looked at.
                    piece = pieces[text][0]
                    near = context[max(0, first[piece] - left) : last[piece] + 1 + right]
                vector_and_origin = self._embedded(near, text)
                if vector_and_origin is not None:
                    made[text] = vector_and_origin
        doc.user_data[KEY] = made
        return self.set_hooks(doc)

    def _embedded(self, context: list[str], text: str) -> list[Any] | None:
        """Return [vector, origin] of a word in one context; None if nothing is known."""
        from alacarte.errors import NotEnoughData

        form = self.form
        if form is None:
            form = self.embedder.form is not None and self.embedder.fusion is not None
        try:
            if form:
                parts = self.embedder.embed_parts([context], text)
                return [parts.fused.reshape(-1), parts.origin[0]]
            return [self.embedder.embed([context], text), "contexts"]
        except NotEnoughData:
            return None

    def _known(self, pieces: list[str]) -> "Singles | None":
        """Return the vector that the model came with, for a token that its tokenizer reads as one word."""
        return self.embedder.vectors.get(pieces[0]) if len(pieces) == 1 else None

    def vector(self, token: Token) -> "Singles | None":
        """Return the vector of a token; None if it has none."""
        made = token.doc.user_data.get(KEY, {}).get(token.text)
        return self._known(self.embedder.tokens(token.text)) if made is None else made[0]

    # -------------------------------------------------------------------------------------------------- hooks

    def set_hooks(self, doc: Doc) -> Doc:
        """Make spaCy use these vectors for a `Doc` that went through this component and was saved since."""
        doc.user_token_hooks.update(
            vector=self._vector_or_zeros, has_vector=self._has_vector, similarity=self._similarity
        )
        for hooks in (doc.user_hooks, doc.user_span_hooks):
            hooks.update(vector=self._mean, has_vector=self._has_any, similarity=self._similarity)
        return doc

    def _has_vector(self, token: Token) -> bool:
        return self.vector(token) is not None

    def _vector_or_zeros(self, token: Token) -> "Singles":
        vector = self.vector(token)
        return np.zeros(self.embedder.vectors.dimension, np.float32) if vector is None else vector

    def _has_any(self, tokens: Doc | Span) -> bool:
        return any(map(self._has_vector, tokens))

    def _mean(self, tokens: Doc | Span) -> "Singles":
        """Return the mean over all tokens, those without a vector as zeros, as spaCy does."""
        rows = [self._vector_or_zeros(token) for token in tokens]
        return np.mean(rows, axis=0) if rows else np.zeros(self.embedder.vectors.dimension, np.float32)

    def _similarity(self, first: Any, second: Any) -> float:
        from alacarte.errors import BadVectors
        from alacarte.vectors.geometry import cosines

        ours, other = first.vector, second.vector
        if ours.shape != other.shape:
            raise BadVectors(
                f"{str(second)[:40]!r} has a vector of {len(other)} values, and this pipeline's have {len(ours)}; "
                "compare with a text that went through the same pipeline"
            )
        return float(cosines(ours, other))

    # -------------------------------------------------------------------------------------------------- files

    def to_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> None:
        """Save the model in a folder, with its vectors unless a package brings them."""
        from alacarte.vectors.formats.named import PACKAGES

        if self._model is not None or self.source is not None:
            self.embedder.save(path, include_vectors=self.embedder.vectors.source not in PACKAGES)

    def from_disk(self, path: str | Path, *, exclude: Iterable[str] = ()) -> "TokenVectors":
        """Load the model that `to_disk` saved."""
        if Path(path).exists():
            self._model = self._load(path)
        return self

    def to_bytes(self, *, exclude: Iterable[str] = ()) -> bytes:
        """Return what `to_disk` writes, as bytes."""
        with TemporaryDirectory() as folder:
            self.to_disk(folder)
            files = {file.name: file.read_bytes() for file in Path(folder).iterdir()}
        packed: bytes = srsly.msgpack_dumps(files)
        return packed

    def from_bytes(self, data: bytes, *, exclude: Iterable[str] = ()) -> "TokenVectors":
        """Load what `to_bytes` returned."""
        from alacarte.model.saving import VECTORS

        files = srsly.msgpack_loads(data)
        # What is mapped into memory stays there when its file is gone; some systems keep the file until the end.
        with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            for name, content in files.items():
                (Path(folder) / Path(name).name).write_bytes(content)
            if files:
                self.from_disk(folder)
        if VECTORS in files:
            self.embedder.vectors.source = None  # the file is gone
        return self


@Language.factory(KEY, default_config={"model": None, "form": None})
def make_component(nlp: Language, name: str, model: str | None, form: bool | None) -> TokenVectors:
    """Return the component, for `nlp.add_pipe("alacarte", config=…)`."""
    return TokenVectors(nlp, name, model, form)


def vector_origin(token: Token) -> str | None:
    """Return where the vector of a token comes from: spaCy's `token._.vector_origin`."""
    made = token.doc.user_data.get(KEY, {}).get(token.text)
    if made is not None:
        return str(made[1])
    return "vectors" if token.has_vector else None


Token.set_extension("vector_origin", getter=vector_origin, force=True)
