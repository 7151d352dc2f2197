"""What notebooks show and complete, by IPython's own formatter and completer."""

import inspect
import typing
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import alacarte
from alacarte import (
    ALaCarte,
    Concordance,
    Corpus,
    Index,
    Targets,
    Transform,
    WordVectors,
    collect,
    compare,
    induce_senses,
)
from alacarte.regression import Inference, contexts, dem, dem_group, etable, regress

WORDS = [f"w{i}" for i in range(40)]
NASTY = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> dict[str, object]:
    """One of each thing that a notebook shows, with a tag of HTML in every name that comes from data."""
    rng = np.random.default_rng(0)
    folder = tmp_path_factory.mktemp(f"notebook {NASTY.replace('/', '')}")
    vectors = WordVectors([NASTY, *WORDS], rng.normal(size=(41, 6)))
    documents = [" ".join([*rng.choice(WORDS, 5), NASTY, "bank", *rng.choice(WORDS, 5)]) for _ in range(80)]
    model = ALaCarte.fit(vectors, documents, tokenizer="whitespace", weighting="none")
    induced = model.induce(documents, ["bank", NASTY], spread=8)
    others = [" ".join(["bank", NASTY, *rng.choice(WORDS[:20], 8)]) for _ in range(80)]
    data = {"text": documents, "party": ["D", f"R{NASTY}"] * 40}
    table = contexts(data, ["bank", NASTY], known=model)
    embedded = dem(table, model)
    fit = regress("bank ~ party", data, model, inference=Inference(permutations=0))
    concordance = Concordance.build(vectors, documents, folder / "c.concordance", tokenizer="whitespace")
    return {
        "model": model,
        "vectors": vectors,
        "induced": induced,
        "report": model.report,
        "transform": model.transform,
        "sums": induced.sums,
        "uncertainty": induced.uncertainty,
        "similarities": induced.uncertainty.nearest("bank", 5),
        "comparison": compare(model, documents, others, ["bank", NASTY], vocabulary=False, contexts=0),
        "explanation": alacarte.explain(model, documents[:3], "bank"),
        "contexts": table,
        "embeddings": dem_group(embedded, "party"),
        "regression": fit,
        "several regressions": etable(fit),
        "senses": induce_senses(model, documents, "bank", 2),
        "targets": Targets([NASTY]) | Targets.glob("b*"),
        "corpus": Corpus(documents, name=NASTY),
        "index": Index.build(vectors),
        "concordance": concordance,
        "lines": concordance.lines("bank"),
    }


class Checked(HTMLParser):
    """Tags that are opened and closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attributes: object) -> None:
        self.open.append(tag)
        self.seen.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_each_is_shown_as_html_and_nothing_of_it_is_obeyed(results):
    formatters = pytest.importorskip("IPython.core.formatters")
    formatter = formatters.HTMLFormatter()
    for name, value in results.items():
        html = formatter(value)
        assert html, name
        page = Checked()
        page.feed(html)
        assert page.open == [], name
        assert page.seen <= {"div", "b", "table", "thead", "tbody", "tr", "th", "td", "p"}, name
        assert "<script" not in html, name
        assert len(html) < 60_000, name


@pytest.mark.parametrize(
    "name",
    [
        "vectors",
        "induced",
        "sums",
        "uncertainty",
        "comparison",
        "contexts",
        "embeddings",
        "regression",
        "targets",
        "lines",
    ],
)
def test_words_of_the_data_are_shown(results, name):
    assert "&lt;script&gt;" in results[name]._repr_html_(), name


def test_large_results_are_cut(results):
    many = WordVectors([f"x{i}" for i in range(30_000)], np.zeros((30_000, 400)) + 1, counts=np.arange(30_000))
    assert len(many._repr_html_()) < 5000
    sums = collect(many, ["x1 x2"], many.words[:20_000])
    assert len(sums._repr_html_()) < 5000
    assert len(repr(sums)) < 200
    rng = np.random.default_rng(0)
    few = WordVectors(many.words[:300], rng.normal(size=(300, 4)))
    text = [" ".join(rng.choice(few.words, 100)) for _ in range(60)]
    uncertainty = ALaCarte(few, Transform(np.eye(4))).induce(text, few.words[:200], spread=4)
    shown = uncertainty.uncertainty._repr_html_()
    assert shown.count("<tr>") == 62  # a header, 60 rows, and one that stands for the others
    whole = uncertainty.uncertainty.to_frame()
    assert f"{whole['confidence'].iloc[3]:.4g}" in shown


def test_a_table_that_cannot_be_made_says_why():
    """An error while a cell is shown would be a traceback from inside of IPython."""
    vectors = WordVectors(WORDS, np.eye(40))
    one = ALaCarte(vectors, Transform(np.eye(40))).induce(["w1 bank w2"], ["bank"], spread=4).uncertainty
    assert "no target has contexts from two documents" in one._repr_html_()


def test_keys_are_completed(results):
    completer = pytest.importorskip("IPython.core.completer")
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell()
    shell.user_ns.update(vectors=results["vectors"], induced=results["induced"], table=results["regression"].table)
    shell.user_ns.update(groups=results["embeddings"])

    def offered(line):
        with completer.provisionalcompleter():
            return {item.text.strip("\"'") for item in shell.Completer.completions(line, len(line))}

    assert {"w1", "w10", "w39"} <= offered('vectors["w')
    assert "bank" in offered('induced["ba')
    assert "estimate" in offered('table["est')
    assert "D" in offered('groups["D')


# -------------------------------------------------------------------------------------------------------- keywords


def public_functions():
    """(name, function) of everything that `alacarte` and its topics export, methods of classes too."""
    modules = (alacarte, alacarte.regression, alacarte.senses, alacarte.documents)
    for module in modules:
        for name in sorted({*getattr(module, "__all__", [])} - {"__version__"}):
            value = getattr(module, name)
            if inspect.isclass(value):
                for member, method in inspect.getmembers(value, callable):
                    own = getattr(method, "__module__", "") or ""
                    if (not member.startswith("_") or member == "__init__") and own.startswith("alacarte"):
                        yield f"{name}.{member}", method
            elif callable(value):
                yield name, value


def test_every_keyword_is_one_that_editors_complete():
    """No `**options: Any`: a function that takes more keywords says which, by a typed dictionary."""
    import alacarte.documents
    import alacarte.senses  # noqa: F401

    checked = 0
    for name, function in public_functions():
        try:
            parameters = inspect.signature(function).parameters.values()
        except ValueError:
            continue
        for parameter in parameters:
            checked += 1
            if parameter.kind is parameter.VAR_KEYWORD:
                typed = parameter.annotation
                unpacked = typing.get_origin(typed) is typing.Unpack or str(typed).startswith("Unpack[")
                assert unpacked, f"{name}(**{parameter.name})"
    assert checked > 200


def test_folders_with_tags_in_their_names_are_shown(results):
    assert Path(results["concordance"].path).exists()
    assert "&lt;script&gt;" in results["concordance"]._repr_html_()
