"""What the tasks of a run make, as files, and how they are added up with little memory.

A part holds the sums of the targets that a task met, in the order of their rows. So the sums of some rows of all
targets lie in one piece in each part, and all parts are added a few rows at a time.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from alacarte._io.artifact import Artifact, read_artifact, word_tensors, write_artifact
from alacarte._io.tensors import Computed, forget_pages
from alacarte.contexts.reading import Reading
from alacarte.contexts.scale import Scale, most_windows
from alacarte.contexts.summing import COUNTS
from alacarte.contexts.sums import ContextSums, Sums
from alacarte.contexts.weights import ContextWeights
from alacarte.errors import BadRun, Hint
from alacarte.passes._leases import part_path
from alacarte.passes._manifest import Plan
from alacarte.passes.checkpoint import Amounts
from alacarte.targets.targets import Targets
from alacarte.text.units import Unit, pack_units, unpack_units

Counts = npt.NDArray[np.int64]
Rows = npt.NDArray[np.intp]

KIND, VERSION = "part of a run", 1
MARK = 3  # bytes of a byte order mark, with which no unit begins


def write_counts(plan: Plan, task: int, counts: Counts, units: Iterable[Unit]) -> None:
    """The part of a task that counts words."""
    metadata = {"plan": plan.identity, "task": task}
    write_artifact(part_path(plan, task), KIND, {"counts": counts, **pack_units(units)}, metadata, VERSION)


def write_sums(plan: Plan, task: int, sums: ContextSums) -> None:
    """The part of a task that sums contexts: the rows of the targets that were met."""
    source = sums.all if sums.groups is None else sums.groups
    met = np.flatnonzero(sums.occurrences)
    counts = np.stack([getattr(source, name)[met] for name in COUNTS], axis=-1)
    shape = len(met), *source.sums.shape[1:]
    tensors: dict[str, Any] = {
        "sums": Computed(shape, np.int64, lambda rows: source.sums[met[rows]]),  # no copy of all of them
        "counts": counts,
        "rows": met.astype(np.int64),
        "row_exponents": sums.scale.rows,
        "sum_exponents": sums.scale.sums,
        **pack_units(sums.units),
    }
    if plan.targets is not None and plan.targets.any_label:
        tensors |= word_tensors((sums.keys[row] for row in met.tolist()), "keys")
    metadata = {
        "plan": plan.identity,
        "task": task,
        "settings": asdict(sums.settings),
        "weight_exponent": sums.scale.weights,
        "read": [sums.documents, sums.tokens_read, sums.tokens_known],
    }
    write_artifact(part_path(plan, task), KIND, tensors, metadata, VERSION)


def open_part(plan: Plan, task: int) -> Artifact:
    """The part that a task made, memory-mapped; sums are compared with their digests when they are used."""
    with _mended_by(plan, task):
        artifact = read_artifact(part_path(plan, task), KIND, BadRun, VERSION, lazily=("sums",))
    if (artifact.value("plan", str), artifact.value("task", int)) != (plan.identity, task):
        raise BadRun(f"{artifact.path} belongs to another run; delete it, and do task {task} again")
    _forget(artifact)  # what was compared with its digests: there may be a thousand parts
    return artifact


@contextmanager
def _mended_by(plan: Plan, task: int) -> Iterator[None]:
    """What is wrong with a part is mended by doing its task again."""
    try:
        yield
    except BadRun as problem:
        again = Hint(f"call work({str(plan.folder)!r}, {task})", f"run `alc work {plan.folder} --task {task}`")
        raise BadRun(f"{problem.message}; do task {task} again", hint=again) from None


def is_damaged(plan: Plan, task: int) -> bool:
    """Whether the part that a task made is not what was written."""
    try:
        open_part(plan, task).verify()
    except BadRun:
        return True
    return False


def _forget(part: Artifact) -> None:
    """Give back the memory of a part, which is read again when it is needed."""
    for array in part.tensors.values():
        forget_pages(array)


def check_units(plan: Plan, parts: dict[int, Artifact]) -> frozenset[Unit]:
    """All units of text of some parts, after a look at whether everything that was planned is there exactly once."""
    everything: set[Unit] = set()
    for task, part in parts.items():
        units = unpack_units(part.tensors)
        paths = {piece.path for piece in plan.share(task)}
        strange = next((unit for unit in units if not _belongs(unit, paths)), None)
        twice = next(iter(everything & units), None)
        if strange is not None or twice is not None:
            unit, what = (strange, "not part of its task") if strange is not None else (twice, "in another part, too")
            assert unit is not None
            raise BadRun(f"{part.path}: {unit.name}, from byte {unit.start:,} on, is {what}; do task {task} again")
        everything |= units
    pieces = {piece for share in plan.shares for piece in share if not piece.whole}
    cut = {piece.path: piece.size for piece in pieces if plan.format_of(piece.path) == "text"}  # others count rows
    units_of: dict[str, list[Unit]] = {name: [] for name in cut}
    for unit in everything:
        if unit.name in cut:
            units_of[unit.name].append(unit)
    for name, listed in units_of.items():
        _check_cover(name, sorted(listed), cut[name])
    return frozenset(everything)


def _belongs(unit: Unit, paths: set[str]) -> bool:
    """Whether a unit is from one of these files, or from a member of one that is an archive."""
    return unit.name in paths or any(unit.name.startswith(f"{path}{os.sep}") for path in paths)


def _check_cover(name: str, units: list[Unit], size: int) -> None:
    """Each byte of a plain text is in one unit."""
    end = 0
    for unit in units:
        if unit.start != end and not (end == 0 and unit.start == MARK):
            raise BadRun(f"{name}: bytes {end:,} to {unit.start:,} are in no part or in two; do its tasks again")
        end = unit.start + unit.size
    if end != size and (units or size > MARK):
        raise BadRun(f"{name}: the parts hold {end:,} of {size:,} bytes; do its tasks again")


def total_counts(plan: Plan) -> Counts:
    """How often each word of the vectors occurs, by all tasks that count."""
    parts = {task: open_part(plan, task) for task in plan.counting_tasks}
    check_units(plan, parts)
    counts = np.zeros_like(next(iter(parts.values())).tensor("counts", np.int64, 1))
    for part in parts.values():
        counts += part.tensor("counts", np.int64, 1)
    return counts


# --------------------------------------------------------------------------------------------------------- sums


@dataclass(frozen=True, eq=False)
class _Part:
    """The sums of one task, and the rows of the result that they belong to."""

    plan: Plan
    task: int
    artifact: Artifact
    rows: Rows

    @property
    def sums(self) -> Counts:
        return self.artifact.tensors["sums"]

    def add(self, into: Counts, numbers: Rows) -> None:
        """Add the sums of some rows of the result, which are sorted."""
        low, high = np.searchsorted(self.rows, (numbers[0], numbers[-1] + 1))
        if low == high:
            return
        with _mended_by(self.plan, self.task):
            self.artifact.verify_rows("sums", np.arange(low, high))
        into[np.searchsorted(numbers, self.rows[low:high])] += self.sums[low:high]
        _forget(self.artifact)


def added_up(plan: Plan, words: list[str] | None, weights: ContextWeights) -> ContextSums:
    """The sums of all tasks, equal to those of one pass over the text.

    `words` are those of the vectors, where every one of them is a target. Counts are in memory; the sums themselves are
    `Computed` from the parts when they are written.
    """
    parts = {task: open_part(plan, task) for task in plan.summing_tasks}
    units = check_units(plan, parts)
    first = next(iter(parts.values()))
    keys, targets, rows = _rows(plan, words, parts)
    reading, scale = _same_scale(parts)
    counts = np.zeros((len(keys), *first.tensor("counts", np.int64).shape[1:]), np.int64)
    amounts = Amounts()
    for task, part in parts.items():
        counts[rows[task]] += part.tensor("counts", np.int64)
        documents, read, known = part.value("read", list)
        amounts = Amounts(amounts.documents + documents, amounts.tokens_read + read, amounts.tokens_known + known)
        _forget(part)
    if amounts.tokens_read == 0:
        raise BadRun("the text of this run holds nothing; check the paths and, for tables, the name of the text column")
    listed = [_Part(plan, task, part, rows[task]) for task, part in parts.items()]
    shape = (len(keys), *first.tensor("sums", np.int64).shape[1:])
    sums: Any = Computed(shape, np.int64, lambda numbers: _added(listed, numbers, shape[1:]))
    columns = {name: counts[..., place] for place, name in enumerate(COUNTS)}
    total, groups = Sums(sums, **columns), None
    if plan.spread is not None:
        groups = total
        over: Any = Computed((len(keys), shape[-1]), np.int64, lambda n: _added(listed, n, shape[1:]).sum(axis=1))
        total = Sums(over, **{name: column.sum(axis=1) for name, column in columns.items()})
    most = most_windows(reading, scale)
    if int(total.occurrences.max(initial=0)) > most:
        raise BadRun(f"one target occurs more often than sums can hold ({most:,} times)")
    return ContextSums(
        keys, total, scale, reading, plan.fingerprint, targets, weights, **asdict(amounts), groups=groups, units=units
    )


def in_memory(sums: ContextSums) -> ContextSums:
    """The same sums, all of them made."""

    def made(part: Sums) -> Sums:
        rows: Any = part.sums
        return replace(part, sums=rows.whole()) if isinstance(rows, Computed) else part

    return replace(sums, all=made(sums.all), groups=None if sums.groups is None else made(sums.groups))


def _added(parts: list[_Part], numbers: Rows, tail: tuple[int, ...]) -> Counts:
    total = np.zeros((len(numbers), *tail), np.int64)
    if len(numbers):
        for part in parts:
            part.add(total, numbers)
    return total


def _rows(
    plan: Plan, words: list[str] | None, parts: dict[int, Artifact]
) -> tuple[list[str], Targets | None, dict[int, Rows]]:
    """(keys of the result, targets, and of each part the rows of the result that it has sums of)."""
    targets = plan.targets
    if targets is None or not targets.any_label:
        rows = {task: part.tensor("rows", np.int64, 1) for task, part in parts.items()}
        return list(words or ()) if targets is None else list(targets), targets, rows
    met = {task: part.words("keys") for task, part in parts.items()}
    labels = {key for part in met.values() for key in part if key not in targets}
    targets = targets | Targets.spans(sorted(labels))
    keys = list(targets)
    keys = [keys[place] for place in targets.in_order(keys)]
    row_of = {key: row for row, key in enumerate(keys)}
    by_task = {task: np.array([row_of[key] for key in part], np.int64) for task, part in met.items()}
    return keys, targets.only(keys), by_task


def _same_scale(parts: dict[int, Artifact]) -> tuple[Reading, Scale]:
    """How contexts were read and how fine the sums are, which all parts agree on."""
    settings = [
        (
            part.record("settings", Reading),
            Scale(
                part.tensor("row_exponents", np.int16, 1),
                part.tensor("sum_exponents", np.int16, 1),
                part.value("weight_exponent", int),
            ),
        )
        for part in parts.values()
    ]
    for part, other in zip(parts.values(), settings, strict=True):
        if other != settings[0]:
            raise BadRun(
                f"{part.path} was made with other settings than the parts before it, perhaps by another version of "
                "alacarte; use one version on all machines, and do its task again"
            )
    return settings[0]


def describe(artifact: Artifact) -> dict[str, Any]:
    """What is in a part, for people."""
    shapes = {name: list(array.shape) for name, array in artifact.tensors.items() if name in ("sums", "counts")}
    return {"task": artifact.value("task", int), "units": len(unpack_units(artifact.tensors)), **shapes}
