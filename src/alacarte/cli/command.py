"""Make commands of functions that take records: every field of a record becomes an option."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import Field, fields, is_dataclass
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import typer

from alacarte._io.options import Option, described
from alacarte.cli import completing, opening
from alacarte.cli.options import Json, Overwrite, Verbosity, Writes
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
COMPLETED = {
    "model": completing.model_names,
    "vectors": completing.vector_names,
    "tokenizer": completing.complete_tokenizers,
    "to": completing.format_names,
}
FROM_ENVIRONMENT = {"model": "ALC_MODEL", "threads": "ALC_THREADS", "memory": "ALC_MEMORY"}
CONTEXT = Parameter("ctx", Parameter.KEYWORD_ONLY, annotation=typer.Context)


def command(
    *, as_json: bool = True, in_place: tuple[str, str] | None = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Let typer see one option for each field of the records that a function takes, and hand the records over.

    Every command gets --verbose and --quiet; --json unless `as_json` is False; --overwrite if it writes files, which
    are checked before the function runs. `in_place` names an output and the input that it may replace.
    """

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        hints = get_type_hints(function, include_extras=True)
        records = {name: kind for name, kind in hints.items() if is_dataclass(kind) and isinstance(kind, type)}
        parameters = [CONTEXT]
        for name, parameter in signature(function).parameters.items():
            if name in records:
                parameters += _options(records[name])
            elif isinstance(parameter.default, Field):
                item = parameter.default
                parameters.append(_option(name, hints[name], item.metadata["option"], item.default, None))
            else:
                parameters.append(parameter.replace(annotation=hints[name], kind=Parameter.KEYWORD_ONLY))
        writes = {item.name: kind for item in parameters if (kind := _output_of(item.annotation)) is not None}
        if writes:
            parameters.append(_flag("overwrite", Overwrite))
        if as_json:
            parameters.append(_flag("as_json", Json))
        parameters.append(_flag("verbosity", Verbosity, None))

        @wraps(function)
        def run(ctx: typer.Context, **given: object) -> None:
            voice.begin(ctx)
            check_outputs(ctx, {name: item.kind for name, item in writes.items()}, in_place)
            for name, item in writes.items():
                if not item.folder and given[name] is not None:
                    given[name] = or_standard_output(given[name])
            taken = {name: _record(kind, given) for name, kind in records.items()}
            plain = {name: given[name] for name in signature(function).parameters if name not in records}
            function(**plain, **taken)

        run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {}
        return run

    return decorate


def _flag(name: str, annotation: Any, default: Any = False) -> Parameter:
    return Parameter(name, Parameter.KEYWORD_ONLY, annotation=annotation, default=default)


def _output_of(annotation: Any) -> Writes | None:
    found = [item for item in getattr(annotation, "__metadata__", ()) if isinstance(item, Writes)]
    return found[0] if found else None


def _options(record: type) -> Iterable[Parameter]:
    """Return a parameter for typer for each field of a record that is an option."""
    hints, defaults = get_type_hints(record), {item.name: item.default for item in fields(record)}
    for name, item in described(record).items():
        hint = str if f"{record.__name__}.{name}" in READ else hints[name]
        yield _option(item.name or name, hint, item, defaults[name], PANELS.get(record.__name__))


def _option(name: str, hint: Any, item: Option, default: Any, panel: str | None) -> Parameter:
    kind = _kind(hint)
    if default is ...:
        default = Parameter.empty
    elif default == ():
        default = None
    elif kind is str and default is not None:
        default = item.shown or str(default)
    info = typer.Option(
        item.flag or f"--{name.replace('_', '-')}",
        *([item.short] if item.short else []),
        help=item.help,
        metavar=item.metavar,
        min=item.minimum,
        max=item.maximum,
        hidden=item.hidden,
        rich_help_panel=item.panel or panel,
        show_default=item.shown or True,
        envvar=FROM_ENVIRONMENT.get(name),
        show_envvar=False,
        autocompletion=COMPLETED.get(name),
    )
    about: tuple[Any, ...] = (kind, info)
    if item.writes:
        folder = item.metavar == "DIR" or item.writes == "checkpoint"
        about += (Writes(None if item.writes == "file" else item.writes, folder),)
    annotation: Any = Annotated.__class_getitem__(about)  # type: ignore[attr-defined]
    return Parameter(name, Parameter.KEYWORD_ONLY, annotation=annotation, default=default)


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
