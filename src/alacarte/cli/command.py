"""Make commands of functions that take records: every field of a record becomes an option."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import Field, fields, is_dataclass
from functools import wraps
from importlib import import_module
from inspect import Parameter, Signature, signature
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

import typer

from alacarte._io.options import Option, described
from alacarte.cli import opening
from alacarte.cli.options import JSON, OVERWRITE, Verbosity
from alacarte.cli.output import voice
from alacarte.cli.outputs import check_outputs, or_standard_output
from alacarte.errors import AlacarteError

PANELS = {
    "CorpusOptions": "The corpus",
    "Reading": "How contexts are read",
    "Solve": "How the matrix is learned",
    "Work": "Large corpora",
}
READ: dict[str, Callable[[Any], Any]] = {  # fields that are typed as a text of another kind
    "Reading.left": opening.parse_window,
    "Work.shard": opening.parse_shard,
    "Solve.ridge": opening.number_or_text,
    "Solve.weighting": opening.number_or_text,
    "Solve.exclude": opening.read_list,
    "InducedTargets.ngrams": opening.parse_lengths,
}
COMPLETED = {  # what the Tab key offers beside files: where the names are
    "model": "alacarte.model.saving:pretrained_names",
    "vectors": "alacarte.vectors.formats.named:PACKAGES",
    "tokenizer": "alacarte.text.tokenizers:tokenizer_names",
    "to": "alacarte.vectors.formats:FORMATS",
}
FROM_ENVIRONMENT = {"model": "ALC_MODEL", "threads": "ALC_THREADS", "memory": "ALC_MEMORY"}
CONTEXT = Parameter("ctx", Parameter.KEYWORD_ONLY, annotation=typer.Context)


def command(*, as_json: bool = True) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Let typer see one option for each field of the records that a function takes, and hand the records over.

    Every command gets --verbose and --quiet; --json unless `as_json` is False; --overwrite if it writes files, which
    are checked before the function runs.
    """

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        hints, own = get_type_hints(function, include_extras=True), signature(function).parameters
        records = {name: kind for name, kind in hints.items() if is_dataclass(kind) and isinstance(kind, type)}
        given: list[_Given | Parameter] = []
        for name, parameter in own.items():
            if name in records:
                given += _options(records[name])
            elif isinstance(parameter.default, Field):
                given.append(_Given(name, hints[name], parameter.default.metadata["option"], parameter.default.default))
            else:  # as typer has it
                given.append(parameter.replace(annotation=hints[name], kind=Parameter.KEYWORD_ONLY))
        writes = {item.name: item.option for item in given if isinstance(item, _Given) and item.option.writes}
        given += [_Given("overwrite", bool, OVERWRITE, False)] if writes else []
        given += [_Given("as_json", bool, JSON, False)] if as_json else []
        parameters = [_parameter(item) if isinstance(item, _Given) else item for item in given]

        @wraps(function)
        def run(ctx: typer.Context, **typed: object) -> None:
            voice.begin(ctx)
            check_outputs(ctx, {name: str(item.writes) for name, item in writes.items()})
            for name, item in writes.items():
                if typed[name] is not None and item.metavar != "DIR" and item.writes != "checkpoint":
                    typed[name] = or_standard_output(typed[name])
            taken = {name: _record(kind, typed) for name, kind in records.items()}
            checkpoint = typed.get("checkpoint")
            voice.checkpoint = None if checkpoint is None else Path(str(checkpoint))
            function(**{name: typed[name] for name in own if name not in records}, **taken)
            if voice.checkpoint is not None:
                from alacarte.passes.checkpoint import delete_checkpoint

                delete_checkpoint(voice.checkpoint)  # now that the results are safe

        verbosity = Parameter("verbosity", Parameter.KEYWORD_ONLY, annotation=Verbosity, default=None)
        run.__signature__ = Signature([CONTEXT, *parameters, verbosity])  # type: ignore[attr-defined]
        run.__annotations__ = {}
        return run

    return decorate


class _Given(NamedTuple):
    """What a command is given: an option or argument, its type and default, and the heading in the help."""

    name: str
    hint: Any
    option: Option
    default: Any
    panel: str | None = None


def _options(record: type) -> Iterable[_Given]:
    """Return what a command is given for each field of a record that is an option."""
    hints, defaults = get_type_hints(record), {item.name: item.default for item in fields(record)}
    for name, item in described(record).items():
        hint = str if f"{record.__name__}.{name}" in READ else hints[name]
        yield _Given(item.name or name, hint, item, defaults[name], PANELS.get(record.__name__))


def _parameter(given: _Given) -> Parameter:
    """Return an option or argument as typer takes it."""
    name, hint, item, default, panel = given
    kind = _kind(hint)
    if default is ...:
        default = Parameter.empty
    elif default == ():
        default = None
    elif kind is str and default is not None:
        default = item.shown or str(default)
    about: dict[str, Any] = {
        "help": item.help,
        "metavar": item.metavar,
        "envvar": item.environment or FROM_ENVIRONMENT.get(name),
        "show_envvar": False,
        "autocompletion": _completion(COMPLETED[name]) if name in COMPLETED else None,
    }
    if item.argument:
        info: Any = typer.Argument(**about, show_default=False)
    else:
        info = typer.Option(
            item.flag or f"--{name.replace('_', '-')}",
            *([item.short] if item.short else []),
            **about,
            min=item.minimum,
            max=item.maximum,
            hidden=item.hidden,
            rich_help_panel=item.panel or panel,
            show_default=item.shown or True,
        )
    return Parameter(name, Parameter.KEYWORD_ONLY, annotation=Annotated[kind, info], default=default)


def _completion(source: str) -> Callable[[str], list[str]]:
    """Return what gives the names that begin so.

    >>> _completion("alacarte.vectors.formats:FORMATS")("word2vec")
    ['word2vec-text', 'word2vec-binary']
    """

    def complete(incomplete: str) -> list[str]:
        module, _, name = source.partition(":")
        names = getattr(import_module(module), name)
        return [name for name in (names() if callable(names) else names) if name.startswith(incomplete)]

    return complete


def _kind(hint: Any) -> Any:
    """Return the type by which typer reads what is typed for a field: `str` where it does not know the field's own.

    >>> _kind(int | None), _kind(float | Literal["loo"]), _kind(list[str] | None)
    (int | None, <class 'str'>, list[str] | None)
    """
    kinds = [kind for kind in get_args(hint) if kind is not NoneType] if NoneType in get_args(hint) else [hint]
    (first, *more) = kinds
    if more or not (first in (bool, int, float, str, Path) or get_origin(first) in (Literal, list)):
        first = str
    optional = NoneType in get_args(hint)
    return first | None if optional else first


def _record(record: type, given: Mapping[str, object]) -> Any:
    """Return a record of what was typed; what was not keeps the default of its field."""
    values: dict[str, Any] = {}
    for name, item in described(record).items():
        value = given[item.name or name]
        if value is None or value == []:
            continue
        read = READ.get(f"{record.__name__}.{name}")
        taken = value if read is None else read(value)
        values.update(taken if isinstance(taken, dict) else {name: taken})
    try:
        return record(**values)
    except AlacarteError as error:
        raise typer.BadParameter(error.for_command_line()) from None
