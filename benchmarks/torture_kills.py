"""Processes that are killed, interrupted, or not alone; see `torture.py`."""

import argparse
import os
import random
import signal
import sys
import time
from collections import Counter
from functools import partial
from pathlib import Path

from torture_cases import (
    BY_NAME,
    CASES,
    KILLED,
    MIXED,
    Case,
    World,
    bits,
    count_calls,
    listing,
    readable,
    said,
    start,
    table,
    wait,
    world,
)
from torture_shim import CHANGES, shim


def wrong_after(world: World, case: Case, folder: Path, threads: int) -> list[str]:
    """What is wrong after a run was disturbed: what readers see now, and what is there when the command is repeated."""
    faults = []
    try:
        seen = readable(folder, case)
        pairs = zip(seen, world.before[case.name], world.after[case.name], strict=True)
        if any(now not in (old, new, MIXED) for now, old, new in pairs):
            faults.append("a reader sees what is neither old nor new")
    except Exception as error:  # whatever it is, it is a fault
        faults.append(f"a reader cannot read: {error}")
    code = wait(start(case, folder, threads))
    complete = case.done and code == 1 and case.done in said()  # it was done before it was killed
    if code != 0 and not complete:
        return [*faults, f"repeated, it ends with {code}: {said()[-300:]}"]
    if bits(folder, case.outputs) != world.expected[case.name]:
        faults.append("other bits than without the disturbance")
    if listing(folder) != world.left[case.name]:
        faults.append(f"left behind: {sorted(listing(folder) ^ world.left[case.name])}")
    return faults


def kill_case(world: World, case: Case, kills: int, chance: random.Random) -> tuple[Counter[str], list[str]]:
    """So many kills, one to three before each run that is left in peace."""
    total = count_calls(case, world.fresh(), CHANGES)
    counts: Counter[str] = Counter(changes=total)
    faults: list[str] = []
    while counts["kills"] < kills:
        folder = world.fresh()
        for _ in range(chance.choice([1, 2, 3])):
            threads = chance.randint(1, 3)
            aimed = chance.random() < 0.6
            if aimed:
                at, half = chance.randint(1, total), chance.random() < 0.5
                aim = partial(shim().set, CHANGES, at, KILLED, half=half)
                child = start(case, folder, threads, aim)
            else:
                child = start(case, folder, threads)
                time.sleep(chance.uniform(0, 1.1 * world.seconds[case.name]))
                os.kill(child, signal.SIGKILL)
            if wait(child) != KILLED:  # it had come to its end
                break
            counts["kills"] += 1
            counts["aimed" if aimed else "at random"] += 1
        new = wrong_after(world, case, folder, chance.randint(1, 3))
        counts["runs"] += 1
        counts["equal"] += not new
        for fault in new:
            faults.append(f"{case.name}: {fault}")
            print(faults[-1], file=sys.stderr)  # at once: the run may be long
    return counts, faults


def kills(argv: list[str]) -> int:
    options = _options(argv, kills=1000)
    cases = _cases(options)
    begun = time.perf_counter()
    rows, faults, done = [], [], 0
    with world(options.folder, cases) as made:
        for number, case in enumerate(cases):
            share = (options.kills - done) // (len(cases) - number)
            counts, new = kill_case(made, case, share, random.Random(f"{options.seed} {case.name}"))
            done += counts["kills"]
            faults += new
            columns = ("changes", "kills", "aimed", "at random", "runs", "equal")
            rows.append((case.name, *(counts[column] for column in columns)))
            print(f"{time.perf_counter() - begun:6.0f} s  {done:,} kills, {len(faults)} faults", file=sys.stderr)
    names = ("command", "changes to files", "kills", "aimed", "at random", "repeated", "equal bits, nothing left")
    totals = tuple(sum(row[place] for row in rows) for place in range(1, len(names)))
    print(table([*rows, ("all", *totals)], names))
    return _end(faults, begun)


def signals(argv: list[str]) -> int:
    """Ctrl-C and SIGTERM before a change to a file, and at random."""
    options = _options(argv, kills=200)
    cases = _cases(options)
    begun = time.perf_counter()
    rows, faults = [], []
    with world(options.folder, cases) as made:
        for number in (signal.SIGINT, signal.SIGTERM):
            counts: Counter[str] = Counter()
            chance = random.Random(f"{options.seed} {number}")
            totals = {case.name: count_calls(case, made.fresh(), CHANGES) for case in cases}
            while counts["sent"] < options.kills // 2:
                case = cases[counts["sent"] % len(cases)]
                folder = made.fresh()
                at = chance.randint(1, totals[case.name])
                code = wait(start(case, folder, chance.randint(1, 3), partial(shim().set, CHANGES, at, -number)))
                counts["sent"] += 1
                if code not in (0, 128 + number):
                    faults.append(f"{case.name}: {signal.Signals(number).name} ends with {code}: {said()[-300:]}")
                hidden = {name for name in listing(folder) if "alacarte-" in name}
                counts["nothing left at once"] += not hidden
                new = wrong_after(made, case, folder, chance.randint(1, 3))
                counts["equal"] += not new
                faults += [f"{case.name}: {fault}" for fault in new]
            rows.append((signal.Signals(number).name, counts["sent"], counts["nothing left at once"], counts["equal"]))
    print(table(rows, ("signal", "sent", "no temporary file left at once", "repeated: equal bits, nothing left")))
    return _end(faults, begun)


def writers(argv: list[str]) -> int:
    """Two processes write the same outputs at once while a third reads them, again and again."""
    options = _options(argv, kills=10)
    names = ["fit", "induce", "merge", "index", "convert to o.npy", "convert to o.safetensors"]
    cases = [case for case in _cases(options) if case.name in names]
    begun = time.perf_counter()
    rows, faults = [], []
    with world(options.folder, cases) as made:
        for case in cases:
            alone = Case(case.name, case.line.replace("--checkpoint cp --checkpoint-every 0 ", ""), case.outputs)
            reads = whole = 0
            for _ in range(options.kills):
                folder = made.fresh()
                running = {start(alone, folder), start(alone, folder)}
                while running:
                    try:
                        seen = readable(folder, case)
                        pairs = zip(seen, made.before[case.name], made.after[case.name], strict=True)
                        whole += all(now in (old, new, MIXED) for now, old, new in pairs)
                    except Exception as error:
                        faults.append(f"{case.name}: a reader cannot read: {error}")
                    reads += 1
                    for child in list(running):
                        done, status = os.waitpid(child, os.WNOHANG)
                        if done:
                            running.remove(child)
                            if status:
                                faults.append(f"{case.name}: a writer ends with {status}: {said()[-300:]}")
                if bits(folder, case.outputs) != made.expected[case.name]:
                    faults.append(f"{case.name}: other bits than one writer alone")
                if listing(folder) != made.left[case.name]:
                    faults.append(f"{case.name}: left behind {sorted(listing(folder) ^ made.left[case.name])}")
            if whole != reads:
                faults.append(f"{case.name}: {reads - whole} reads of what is neither old nor new")
            rows.append((case.name, 2 * options.kills, reads, whole))
    print(table(rows, ("command", "writers, two at a time", "reads meanwhile", "old or new, as a whole")))
    return _end(faults, begun)


def _options(argv: list[str], kills: int) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", "--times", type=int, default=kills, help="how many disturbances")
    parser.add_argument("--case", action="append", help="only this command; repeat for more")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", help="where to work; /dev/shm if it is there")
    return parser.parse_args(argv)


def _cases(options: argparse.Namespace) -> list[Case]:
    return [BY_NAME[name] for name in options.case] if options.case else CASES


def _end(faults: list[str], begun: float) -> int:
    for fault, times in Counter(faults).most_common():
        print(f"{times} × {fault}", file=sys.stderr)
    print(f"\n{len(faults)} faults, {time.perf_counter() - begun:.0f} s")
    return bool(faults)
