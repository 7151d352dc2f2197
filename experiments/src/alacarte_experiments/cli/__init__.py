"""`alc eval`: the commands that this distribution adds to `alc`.

`app` comes before the imports: they import `alacarte.cli`, which looks for `app` here.
"""

import typer

app = typer.Typer(no_args_is_help=True, help="The paper's experiments: nonces, chimeras, rare words, ….")

from alacarte_experiments.cli import documents, evaluate, wsd  # noqa: E402, F401 (they add their commands)

__all__ = ["app"]
