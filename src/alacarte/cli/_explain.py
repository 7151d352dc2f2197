"""What `alc embed --explain` prints: where a vector comes from, and how sure it is."""

from typing import TYPE_CHECKING

from alacarte.cli._output import neighbour_dicts, note, show_columns, show_json, show_line, show_neighbours

if TYPE_CHECKING:
    from alacarte.explaining import Explanation
    from alacarte.inference.uncertainty import Similarities
    from alacarte.model import ALaCarte

SHOWN = 12  # context words


def show_explanation(model: "ALaCarte", found: "Explanation", k: int, among: int | None, as_json: bool) -> None:
    own = () if found.word is None else model.tokenizer(found.word, model.vectors.key_to_index)
    plain = None
    if found.nearest is None:
        plain = model.vectors.nearest(found.vector, k, among=among, exclude=own if len(own) == 1 else ())
    if as_json:
        told = found.to_dict()
        show_json(told if plain is None else {**told, "neighbours": neighbour_dicts(plain)})
        return
    sure = "not known from one context" if found.confidence is None else f"{found.confidence:.2f}"
    if found.contexts:
        show_line(f"contexts {found.contexts}, confidence {sure} (1: more contexts would change nothing)")
    if found.spelling is not None:
        show_line(f"from spelling {found.spelling:.0%}, from contexts {1 - found.spelling:.0%}")
    rows = [(item.word, item.times, f"{item.share:.1%}") for item in found.words[:SHOWN]]
    rest = found.words[SHOWN:]
    if rest:
        several = (f"{len(rest)} more", sum(item.times for item in rest), f"{sum(item.share for item in rest):.1%}")
        rows.append(several)
    if rows:
        show_columns(["context word", "times", "share of the vector"], rows)
    if plain is not None:
        show_neighbours({found.word or "neighbour": plain})
    elif found.nearest is not None:
        show_similarities(found.nearest)


def show_similarities(found: "Similarities") -> None:
    """Neighbours with their intervals."""
    if not len(found):
        note("there is no neighbour to show")
        return
    rows = [(item.other, f"{item.cosine:.3f}", f"{item.estimate:.2f}", _range(item.low, item.high)) for item in found]
    level = f"{found[0].level:.0%}"
    show_columns([found[0].word or "neighbour", "cosine", "without noise", f"{level} interval"], rows)


def _range(low: float, high: float) -> str:
    """
    >>> _range(-0.125, 0.5)
    '-0.12 … 0.50'
    """
    return f"{low:.2f} … {high:.2f}"
