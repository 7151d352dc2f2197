"""What `alc --version --verbose` prints: all that somebody who reads a bug report asks for."""

import os
import platform
import re
import sys
from importlib import metadata

from alacarte._io.files import cache_folder
from alacarte._version import __version__
from alacarte.cli.config import config_file

DISTRIBUTION = "alacarte-embeddings"
FEATURES = ("avx", "avx2", "avx512f", "avx512vnni", "fma", "sse4.2", "neon", "sve")  # that change the speed of kernels


def versions() -> list[tuple[str, object]]:
    """Names and values, for a table."""
    return [
        ("alc", f"{__version__}, in {os.path.dirname(os.path.dirname(__file__))}"),  # noqa: PTH120
        ("Python", f"{platform.python_version()} ({platform.python_implementation()}), {sys.executable}"),
        ("system", platform.platform()),
        ("processor", _processor()),
        ("cores", f"{_usable_cores()} of {os.cpu_count()} may be used"),
        ("packages", ", ".join(_version(name) for name in ("numpy", "scipy", "numba", "llvmlite", "typer", "rich"))),
        ("linear algebra", _blas()),
        ("extras", ", ".join(f"{name} {'yes' if here else 'no'}" for name, here in _extras().items()) or "unknown"),
        ("cache", cache_folder()),
        ("defaults", config_file()),
    ]


def _version(name: str) -> str:
    try:
        return f"{name} {metadata.version(name)}"
    except metadata.PackageNotFoundError:
        return f"{name} missing"


def _usable_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _processor() -> str:
    """What LLVM, which compiles the kernels, takes the processor for."""
    try:
        from llvmlite import binding

        features = binding.get_host_cpu_features()
        known = [name for name in FEATURES if features.get(name)]
        return f"{platform.machine()}, {binding.get_host_cpu_name()} ({', '.join(known) or 'no vector units known'})"
    except Exception as error:  # a broken installation is what the report is about
        return f"{platform.machine()} (llvmlite: {error})"


def _blas() -> str:
    try:
        import numpy as np

        blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]  # type: ignore[call-overload,index,unused-ignore]
        return f"{blas.get('name')} {blas.get('version')}"
    except Exception as error:
        return f"unknown ({error})"


def _extras() -> dict[str, bool]:
    """Whether all packages of each extra are installed; "dev" is left out."""
    try:
        listed = metadata.requires(DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        return {}
    extras: dict[str, bool] = {}
    for requirement in listed:
        extra = re.search(r"extra == ['\"]([\w-]+)['\"]", requirement)
        package = re.match(r"[\w.-]+", requirement)
        if extra is None or package is None or extra[1] == "dev" or package[0] == DISTRIBUTION:
            continue
        missing = _version(package[0]).endswith(" missing")
        extras[extra[1]] = extras.get(extra[1], True) and not missing
    return extras
