"""A full disk at every write; see `torture.py`.

In two ways: a file system in memory that is filled to the last page before the n-th change (as root, where one can be
mounted), and, anywhere, the n-th change failing as it would there.
"""

import argparse
import errno
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from torture_cases import (
    BY_NAME,
    CASES,
    MIXED,
    Case,
    Watched,
    World,
    at_every_change,
    bits,
    count_changes,
    listing,
    readable,
    said,
    start,
    table,
    wait,
    world,
)

SIZE = 64 << 20
ROOM = ("open", "write", "fsync", "os.mkdir")  # changes that need room


def full_from(folder: Path, number: int, mounted: Path | None) -> Callable[[], None]:
    """What a child does first: from its change of this number on there is no room."""

    def prepare() -> None:
        seen = [0]

        def happen(event: str, file: Watched | None, data: bytes) -> None:
            seen[0] += 1
            if mounted is not None:
                if seen[0] == number:
                    fill(mounted)
            elif seen[0] >= number and event in ROOM[1:3]:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        at_every_change(folder, happen)

    return prepare


def fill(place: Path) -> None:
    """Take what is left of a file system."""
    taken = os.open(place / "taken", os.O_WRONLY | os.O_CREAT)
    for size in (1 << 20, 1 << 12, 1):
        try:
            while True:
                os.write(taken, b"x" * size)
        except OSError:
            pass
    os.close(taken)


@contextmanager
def small_disk() -> Iterator[Path | None]:
    """A file system of its own, or None where none may be mounted."""
    place = Path(tempfile.mkdtemp(prefix="alacarte-torture-"))
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(place)]
    mounted = shutil.which("mount") is not None and subprocess.run(mount, capture_output=True, check=False)
    try:
        yield place if mounted and mounted.returncode == 0 else None
    finally:
        if mounted and mounted.returncode == 0:
            subprocess.run(["umount", "--lazy", str(place)], check=True)  # files in it may still be mapped
        place.rmdir()


def fill_case(world: World, case: Case, every: int, mounted: Path | None) -> tuple[Counter[str], list[str]]:
    """The disk is full at one change after the other."""
    total = count_changes(case, world.fresh())
    counts: Counter[str] = Counter(changes=total)
    faults: list[str] = []
    for number in range(1, total + 1, every):
        folder = world.fresh()
        code = wait(start(case, folder, prepare=full_from(folder, number, mounted)))
        words = said()
        counts["tried"] += 1
        new = []
        try:
            pairs = zip(readable(folder, case), world.before[case.name], world.after[case.name], strict=True)
            if any(now not in (old, new, MIXED) for now, old, new in pairs):
                new.append("a reader sees what is neither old nor new")
        except Exception as error:
            new.append(f"a reader cannot read: {error}")
        if code == 1:
            counts["failed"] += 1
            named = "No space left" in words and any(name in words for name in (*case.outputs, "cp", "/tmp", "shm"))
            if not named or words.count("\n") or "Traceback" in words:
                new.append(f"says: {words[-300:]}")
            counts["need"] += "needs" in words or "need" in words
            if "intact" in words and f"{folder / 'cp'}" in words and not (folder / "cp").exists():
                new.append(f"claims a checkpoint that is not there: {words[-300:]}")
            hidden = {name for name in listing(folder) if "alacarte-" in name}
            if hidden:
                new.append(f"left behind at once: {hidden}")
        elif code != 0:  # nothing more was to be written, or what was had room
            new.append(f"ends with {code}: {words[-300:]}")
        if mounted is not None:
            (mounted / "taken").unlink(missing_ok=True)
        code = wait(start(case, folder))
        complete = case.in_place and code == 1 and "counted twice" in said()
        if code != 0 and not complete:
            new.append(f"repeated with room, it ends with {code}: {said()[-300:]}")
        elif bits(folder, case.outputs) != world.expected[case.name]:
            new.append("other bits than without the disturbance")
        elif listing(folder) != world.left[case.name]:
            new.append(f"left behind: {sorted(listing(folder) ^ world.left[case.name])}")
        counts["good"] += not new
        faults += [f"{case.name}, change {number}: {fault}" for fault in new]
    return counts, faults


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--case", action="append", help="only this command; repeat for more")
    parser.add_argument("--most", type=int, default=100, help="of a command's changes to try, evenly spread")
    parser.add_argument("--pretend", action="store_true", help="let writes fail; no file system is mounted")
    parser.add_argument("--folder", help="with --pretend: where to work")
    options = parser.parse_args(argv)
    cases = [BY_NAME[name] for name in options.case] if options.case else CASES
    begun = time.perf_counter()
    rows, faults = [], []
    with small_disk() as disk:
        mounted = None if options.pretend else disk
        if mounted is not None:
            tempfile.tempdir = str(mounted)  # what does not fit in memory goes there, too
        with world(str(mounted) if mounted is not None else options.folder, cases) as made:
            for case in cases:
                changes = count_changes(case, made.fresh())
                counts, new = fill_case(made, case, max(1, changes // options.most), mounted)
                faults += new
                rows.append((case.name, counts["changes"], counts["tried"], counts["failed"], counts["good"]))
        tempfile.tempdir = None
    names = ("command", "changes to files", "disk full at", "of these failed", "old intact, file named, repeated equal")
    totals = tuple(sum(row[place] for row in rows) for place in range(1, len(names)))
    print(table([*rows, ("all", *totals)], names))
    for fault in faults:
        print(fault, file=sys.stderr)
    how = "a full file system" if mounted is not None else "writes that fail"
    print(f"\n{len(faults)} faults, {how}, {time.perf_counter() - begun:.0f} s")
    return bool(faults)
