"""`alc eval`: the commands that this distribution adds to `alc`."""

from alacarte_experiments.cli import documents as _documents  # noqa: F401 (adds its commands to `app`)
from alacarte_experiments.cli import weights as _weights  # noqa: F401 (adds its commands to `app`)
from alacarte_experiments.cli import wsd as _wsd  # noqa: F401 (adds its command to `app`)
from alacarte_experiments.cli.evaluate import app

__all__ = ["app"]
