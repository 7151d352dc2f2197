"""System calls that fail while a command runs, and while a file is read; see `torture.py`."""

import argparse
import errno
import os
import random
import sys
import tempfile
import time
from collections import Counter
from functools import partial
from pathlib import Path

from torture_cases import (
    BY_NAME,
    CASES,
    Case,
    World,
    bits,
    count_calls,
    listing,
    said,
    start,
    table,
    wait,
    world,
)
from torture_kills import wrong_after
from torture_mutants import BAD, SECONDS, Seed, _read, all_seeds, put
from torture_shim import CHANGES, ERRORS, LOCK, READS, REMOVE, shim

LASTING = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.ESTALE, errno.EROFS, errno.EMFILE, errno.ENOMEM)


def name_of(number: int) -> str:
    return errno.errorcode.get(number, "half")


def errors(argv: list[str]) -> int:
    """One call after another fails while a command runs, once or from then on."""
    options = _options(argv)
    cases = [BY_NAME[name] for name in options.case] if options.case else CASES
    kinds = [number for number in ERRORS if ERRORS[number] & CHANGES]
    begun = time.perf_counter()
    counts: dict[str, Counter[str]] = {name_of(number): Counter() for number in kinds}
    faults: list[str] = []
    with world(options.folder, cases) as made:
        for place, case in enumerate(cases):
            chance = random.Random(f"{options.seed} {case.name}")
            totals = {number: count_calls(case, made.fresh(), ERRORS[number]) for number in kinds}
            possible = [number for number in kinds if totals[number]]
            share = options.errors * (place + 1) // len(cases) - options.errors * place // len(cases)
            for number in chance.choices(possible, k=share):
                at, lasts = chance.randint(1, totals[number]), number in LASTING and chance.random() < 0.5
                what = f"{case.name}, {name_of(number)} at call {at}{' and after' if lasts else ''}"
                new = [f"{what}: {fault}" for fault in _errors_at(made, case, number, at, lasts)]
                counts[name_of(number)] += Counter(tried=1, right=not new)
                faults += new
                for fault in new:
                    print(fault, file=sys.stderr)
            print(f"{time.perf_counter() - begun:6.0f} s  {case.name}, {len(faults)} faults", file=sys.stderr)
    rows = [(name, count["tried"], count["right"]) for name, count in counts.items()]
    return _end(rows, ("error", "tried", "said in a line, old or new intact, repeated equal"), faults, begun)


def _errors_at(made: World, case: Case, number: int, at: int, lasts: bool) -> list[str]:
    """What is wrong when a call fails."""
    folder = made.fresh()
    code = wait(start(case, folder, prepare=partial(shim().set, ERRORS[number], at, number, lasts=lasts)))
    words, faults = said(), []
    if code == 0:
        if bits(folder, case.outputs) != made.expected[case.name]:
            faults.append("ends with 0, with other bits")
    elif code != 1 or "Traceback" in words or not words.splitlines()[-1].startswith("alc: error: "):
        faults.append(f"ends with {code}: {words[-2000:]}")
    elif number in (0, errno.EINTR):
        faults.append(f"ends with 1 for nothing: {words[-2000:]}")
    hidden = {name for name in listing(folder) if "alacarte-" in name}
    if hidden and not (lasts or ERRORS[number] & (REMOVE | LOCK)):
        faults.append(f"left behind at once: {hidden}")
    return faults + wrong_after(made, case, folder, 1)


def reads(argv: list[str]) -> int:
    """One call after another fails while a file of each format is read."""
    options = _options(argv)
    seeds = [seed for seed in all_seeds() if not seed.forged and (not options.case or seed.name in options.case)]
    kinds = [number for number in ERRORS if ERRORS[number] & READS]
    begun = time.perf_counter()
    counts: dict[str, Counter[str]] = {name_of(number): Counter() for number in kinds}
    faults: list[str] = []
    with tempfile.TemporaryDirectory(dir=options.folder or "/dev/shm") as folder:
        shim().folder = folder.encode()
        for place, seed in enumerate(seeds):
            chance = random.Random(f"{options.seed} {seed.name}")
            put(Path(folder) / str(place), seed.files)
            totals = {}
            for number in kinds:
                outcome, expected = _read_at(seed, Path(folder) / str(place), ERRORS[number] & READS, 0, 0)
                totals[number] = shim().number
            possible = [number for number in kinds if totals[number]]
            share = options.errors * (place + 1) // len(seeds) - options.errors * place // len(seeds)
            for number in chance.choices(possible, k=share):
                at = chance.randint(1, totals[number])
                found = _read_at(seed, Path(folder) / str(place), ERRORS[number] & READS, at, number)
                harmless = number in (0, errno.EINTR)
                right = found == (outcome, expected) or (found[0] == "refused" and not harmless)
                counts[name_of(number)] += Counter(tried=1, right=right, refused=found[0] == "refused")
                if not right:
                    what = found[0] if found[0] in BAD or harmless else "is read as something else"
                    faults.append(f"{seed.name}, {name_of(number)} at call {at}: {what} {found[1]}")
                    print(faults[-1], file=sys.stderr)
    rows = [(name, count["tried"], count["refused"], count["right"]) for name, count in counts.items()]
    return _end(rows, ("error", "tried", "refused", "refused or read as it is"), faults, begun)


def _read_at(seed: Seed, folder: Path, kinds: int, at: int, number: int) -> tuple[str, str]:
    """What becomes of a file that is read by a process of which a call fails."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            shim().set(kinds, at, number)
            outcome, detail = _read(seed, folder)
            shim().stop()
            os.write(writing, f"{outcome}\t{detail}".encode()[:4000])
        finally:
            os._exit(0)
    os.close(writing)
    code = wait(child, SECONDS)
    with os.fdopen(reading, "rb") as pipe:
        outcome, _, detail = pipe.read().decode().partition("\t")
    return (outcome, detail) if outcome else ("hangs", "") if code is None else ("crashes", str(code))


def _options(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--errors", type=int, default=1000, help="how many calls fail")
    parser.add_argument("--case", action="append", help="only this command or format; repeat for more")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", help="where to work; /dev/shm if it is there")
    return parser.parse_args(argv)


def _end(rows: list[tuple[object, ...]], names: tuple[str, ...], faults: list[str], begun: float) -> int:
    totals = tuple(sum(row[place] for row in rows) for place in range(1, len(names)))  # type: ignore[misc]
    print(table([*rows, ("all", *totals)], names))
    print(f"\n{len(faults)} faults, {time.perf_counter() - begun:.0f} s")
    return bool(faults)
