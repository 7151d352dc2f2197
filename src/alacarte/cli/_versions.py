"""What `alc --version --verbose` prints: what a bug report needs."""

import os
import platform
import sys
from importlib import metadata

from alacarte._io.files import cache_folder
from alacarte._version import __version__
from alacarte.passes.work import usable_cores

DEFAULTS = ("ALC_MODEL", "ALC_VECTORS", "ALC_THREADS", "ALC_MEMORY")
VERSIONED_PACKAGES = ("numpy", "scipy", "numba", "llvmlite", "typer", "rich")


def versions() -> list[tuple[str, object]]:
    """Return names and values, for a table."""
    return [
        ("alc", f"{__version__}, in {os.path.dirname(os.path.dirname(__file__))}"),  # noqa: PTH120
        ("Python", f"{platform.python_version()} ({platform.python_implementation()}), {sys.executable}"),
        ("system", f"{platform.platform()}, {usable_cores()} of {os.cpu_count()} cores may be used"),
        ("packages", ", ".join(f"{name} {metadata.version(name)}" for name in VERSIONED_PACKAGES)),
        ("cache", cache_folder()),
        ("defaults", ", ".join(f"{name}={os.environ[name]}" for name in DEFAULTS if name in os.environ) or "none"),
    ]
