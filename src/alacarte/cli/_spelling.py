"""Spelling on the command line."""

from typing import TYPE_CHECKING

from alacarte.cli.output import note, voice

if TYPE_CHECKING:
    from alacarte.model import ALaCarte
    from alacarte.spelling.form import FormModel, FormVector
    from alacarte.spelling.fusion import Fusion


def with_form(model: "ALaCarte") -> "ALaCarte":
    """Return the model with vectors from spelling; learned from its vectors the first time, if it has none."""
    from alacarte.spelling.form import FormModel

    if model.form is not None:
        return model
    if not FormModel.is_cached(model.vectors):
        note("vectors from spelling are learned from the word vectors, once, and kept in the cache")
    return model.with_form(show_progress=voice.progress)


def from_spelling(model: "ALaCarte", word: str) -> "FormVector":
    """Return a word's vector from its spelling alone, with a note that says so."""
    spelled = with_form(model).spell(word)
    expected = "" if spelled.expected is None else f"; cosine with the true vector to expect: {spelled.expected:.2f}"
    note(
        f"no context: the vector comes from the spelling alone ({spelled.known} of {spelled.ngrams} n-grams "
        f"known{expected})"
    )
    return spelled


def form_rows(form: "FormModel", fusion: "Fusion") -> list[tuple[str, object]]:
    """Return what was learned about spelling, as a table has it."""
    by_kind = ", ".join(f"{item.kind} {item.cosine:.2f} ({item.words:,})" for item in form.quality if item.words >= 30)
    simulated = ", ".join(f"{item.contexts}: {item.context_auc:.3f} → {item.fused_auc:.3f}" for item in fusion.report)
    return [
        ("spelling", f"{len(form.codes):,} n-grams of {form.words:,} words, ridge {form.ridge:g}"),
        ("cosine of spelling with held-out words", by_kind or "not measured"),
        ("relatives nearer than others (AUC), by contexts alone → with spelling", simulated),
    ]
