"""Disturbs the system calls of a process and of those that it starts: builds `torture_shim.c`, and says which call."""

import ctypes
import errno
import mmap
import os
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

OPEN, READ, STAT, MAP, LIST = (1 << place for place in range(5))  # kinds of calls, as in torture_shim.c
CREATE, WRITE, SYNC, RENAME, REMOVE, MAKE, MODE, LOCK = (1 << place for place in range(5, 13))
READS, CHANGES = (1 << 5) - 1, (1 << 13) - (1 << 5)
ROOM = CREATE | WRITE | SYNC | RENAME | MAKE
# Errors, and the kinds of calls that they are seen with; 0 for none: half of what was asked for is read or written.
ERRORS = {
    errno.ENOSPC: ROOM,
    errno.EDQUOT: ROOM,
    errno.EIO: READS | CHANGES,
    errno.ESTALE: READS | CHANGES,
    errno.EROFS: CREATE | RENAME | REMOVE | MAKE | MODE,
    errno.EACCES: OPEN | LIST | CREATE | RENAME | REMOVE | MAKE,
    errno.EMFILE: OPEN | LIST | CREATE,
    errno.ENOMEM: OPEN | MAP | CREATE,
    errno.ENOLCK: LOCK,
    errno.EINTR: READ | WRITE,
    0: READ | WRITE,
}


class Faults(ctypes.Structure):
    """`struct faults` of torture_shim.c."""

    _fields_ = [
        *((name, ctypes.c_long) for name in ("kinds", "number", "at", "what", "lasts", "half")),
        ("folder", ctypes.c_char * 4096),
    ]
    kinds: int
    number: int
    at: int
    what: int
    lasts: int
    half: int
    folder: bytes

    def count(self, kinds: int) -> None:
        """From here on, count calls of some kinds; none is disturbed."""
        self.set(kinds, 0)

    def set(self, kinds: int, at: int, what: int = 0, *, lasts: bool = False, half: bool = False) -> None:
        """From here on, disturb one call of some kinds: it fails with an error, or (below 0) a signal is sent."""
        self.kinds, self.number, self.at = kinds, 0, at
        self.what, self.lasts, self.half = what, lasts, half or not what

    def stop(self) -> None:
        """Leave all calls alone."""
        self.kinds = 0


@cache
def shim() -> Faults:
    """What all processes share; see `with_shim`."""
    with Path(os.environ["FAULTS"]).open("r+b") as file:
        return Faults.from_buffer(mmap.mmap(file.fileno(), ctypes.sizeof(Faults)))


def with_shim() -> int | None:
    """Run this program again with the shim, and return its exit code; None if it has the shim already."""
    if "FAULTS" in os.environ:
        return None
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None or sys.platform != "linux":
        raise SystemExit("this needs Linux and a C compiler")
    with tempfile.TemporaryDirectory() as folder:
        library, shared = Path(folder) / "shim.so", Path(folder) / "faults"
        source = Path(__file__).with_suffix(".c")
        subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
        shared.write_bytes(bytes(ctypes.sizeof(Faults)))
        environment = {**os.environ, "LD_PRELOAD": str(library), "FAULTS": str(shared)}
        return subprocess.run([sys.executable, *sys.argv], env=environment, check=False).returncode
