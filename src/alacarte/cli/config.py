"""`alc config`: defaults, so that commands need not be told the same model each time."""

import json
import os
from pathlib import Path
from typing import Annotated

import typer

from alacarte.cli import options as o
from alacarte.cli.completing import CONFIG_NAMES, config_names, config_values
from alacarte.cli.output import note, show_json, show_line, voice
from alacarte.errors import AlacarteError


def config(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", show_default=False, autocompletion=config_names, help="model or vectors."),
    ] = None,
    value: Annotated[
        str | None,
        typer.Argument(
            metavar="VALUE",
            show_default=False,
            autocompletion=config_values,
            help="What commands take if they are told nothing else; without it, the default is printed.",
        ),
    ] = None,
    unset: Annotated[bool, typer.Option("--unset", help="Forget the default of NAME.")] = False,
    as_json: o.Json = False,
    verbosity: o.Verbosity = None,
) -> None:
    """Set, print or forget defaults: the model and the word vectors that commands take if none are given.

    \b
    alc config model glove.6B.50d
    alc config
    alc config model --unset

    A folder or file is kept with its whole path. The defaults are in a JSON file, whose path --verbose prints.
    """
    path = config_file()
    defaults = read_defaults()
    if voice.verbose:
        note(f"defaults are in {path}")
    if name is not None and name not in CONFIG_NAMES:
        raise typer.BadParameter(f"there is no default {name!r}; there are {' and '.join(CONFIG_NAMES)}")
    if name is None:
        if unset:
            raise typer.BadParameter("say which default to forget, as in: alc config model --unset")
        shown = defaults
    elif unset:
        if value is not None:
            raise typer.BadParameter("pass a value, or --unset, and not both")
        if defaults.pop(name, None) is None:
            raise AlacarteError(f"there is no default {name} to forget")
        _write_defaults(defaults)
        return
    elif value is not None:
        defaults[name] = _checked(name, value)
        _write_defaults(defaults)
        shown = {name: defaults[name]}
    elif name not in defaults:
        raise AlacarteError(f"there is no default {name}; set one with: alc config {name} VALUE")
    else:
        shown = {name: defaults[name]}
    if as_json:
        show_json(shown)
    elif value is None or not voice.quiet:
        for setting, text in sorted(shown.items()):
            show_line(text if name is not None and value is None else f"{setting} = {text}")


def default(name: str, missing: str) -> str:
    """A default that was set, and a note that it is used; where there is none, an error that begins with `missing`."""
    defaults = read_defaults()
    if name not in defaults:
        raise typer.BadParameter(
            f"{missing}, or set a default once: alc config {name} {'DIR' if name == 'model' else 'FILE'}|NAME"
        )
    value = defaults[name]
    if Path(value).is_absolute() and not Path(value).exists():
        raise AlacarteError(
            f"the default {name}, {value}, is not there any more; set another with `alc config {name} VALUE`, or "
            f"forget it with `alc config {name} --unset`"
        )
    note(f"{name} {value}, your default (alc config)")
    return value


def config_file() -> Path:
    """Where defaults are kept: `$ALACARTE_CONFIG`, or `config.json` in the system's folder for settings."""
    given = os.environ.get("ALACARTE_CONFIG")
    return Path(given).expanduser() if given else Path(typer.get_app_dir("alacarte")) / "config.json"


def read_defaults() -> dict[str, str]:
    """What was set; nothing if there is no file."""
    path = config_file()
    try:
        defaults = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except ValueError:
        defaults = None
    if not isinstance(defaults, dict) or not all(isinstance(value, str) for value in defaults.values()):
        raise AlacarteError(f"{path}: not a file of defaults; correct it, or delete it and use alc config again")
    return {name: value for name, value in defaults.items() if name in CONFIG_NAMES}


def _write_defaults(defaults: dict[str, str]) -> None:
    from alacarte._io.files import atomic_write

    path = config_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as file:
        file.write((json.dumps(defaults, indent=2) + "\n").encode())


def _checked(name: str, value: str) -> str:
    """The value with its whole path, if it is one that commands can open."""
    from alacarte._io.remote import url_of
    from alacarte.model import pretrained_names
    from alacarte.vectors.formats.named import PACKAGES

    path = Path(value).expanduser()
    known = pretrained_names() if name == "model" else list(PACKAGES)
    if path.exists():
        if name == "model" and not (path / "model.json").is_file():
            raise AlacarteError(f"{value}: no saved model; `alc fit --out DIR` makes one")
        return os.fspath(path.resolve())
    if url_of(value) is None and value not in known:
        kind = "a folder with a saved model" if name == "model" else "a file"
        raise AlacarteError(f"{value}: neither {kind} nor one of the names {', '.join(known)}")
    return value
