"""What `alc embed --explain` prints: where a vector comes from, and how uncertain it is."""

from typing import TYPE_CHECKING

from alacarte.cli.output import neighbour_dicts, note, show, show_columns, show_line, show_neighbours

if TYPE_CHECKING:
    from alacarte.model import ALaCarte
    from alacarte.model.explaining import Explanation
    from alacarte.uncertainty.uncertainty import Similarities

SHOWN_WORDS = 12  # context words


def show_explanation(model: "ALaCarte", explanation: "Explanation", k: int, among: int | None) -> None:
    """Print the shares, and the nearest words: with intervals where these are known."""
    facts, similar = explanation.to_dict(), explanation.nearest
    if similar is not None:
        show(facts, lambda: _show_shares(explanation), lambda: show_similarities(similar))
        return
    neighbours = model.nearest(explanation.vector, k, among=among, without=explanation.word)
    lists = {explanation.word or "neighbour": neighbours}
    facts = {**facts, "neighbours": neighbour_dicts(neighbours)}
    show(facts, lambda: _show_shares(explanation), lambda: show_neighbours(lists))


def _show_shares(explanation: "Explanation") -> None:
    confidence = explanation.confidence
    if explanation.contexts:
        known = "not known from one context" if confidence is None else f"{confidence:.2f}"
        one = "more contexts would change nothing"
        one += "" if explanation.spelling is None else " if spelling counted as much"
        show_line(f"contexts {explanation.contexts}, confidence {known} (1: {one})")
    if explanation.spelling is not None:
        show_line(f"from spelling {explanation.spelling:.0%}, from contexts {1 - explanation.spelling:.0%}")
    rows = [(item.word, item.times, f"{item.share:.1%}") for item in explanation.words[:SHOWN_WORDS]]
    rest = explanation.words[SHOWN_WORDS:]
    if rest:
        times, share = sum(item.times for item in rest), sum(item.share for item in rest)
        rows.append((f"{len(rest)} more", times, f"{share:.1%}"))
    if rows:
        show_columns(["context word", "times", "share of the vector"], rows)
    if explanation.intercept:
        show_line(f"from the intercept of the transform {explanation.intercept:.1%}")


def show_similarities(similarities: "Similarities") -> None:
    """Print neighbours with their intervals."""
    if not len(similarities):
        note("there is no neighbour to show")
        return
    rows = [
        (item.other, f"{item.cosine:.3f}", *_estimate(item.estimate, item.conf_low, item.conf_high))
        for item in similarities
    ]
    level = f"{similarities[0].level:.0%}"
    show_columns([similarities[0].word or "neighbour", "cosine", "without noise", f"{level} interval"], rows)


def _estimate(estimate: float, low: float, high: float) -> tuple[str, str]:
    """Return (the cosine without noise, its interval); an interval over half of all cosines says that neither is known.

    >>> _estimate(0.25, -0.125, 0.5), _estimate(-0.64, -1.0, 0.33)
    (('0.25', '-0.12 … 0.50'), ('unknown', 'unknown'))
    """
    if not high - low <= 1:
        return "unknown", "unknown"
    return f"{estimate:.2f}", f"{low:.2f} … {high:.2f}"
