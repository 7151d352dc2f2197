"""What the server keeps: notes and saved views, texts that were sent, corpora that are being built.

All of it is in the folder of the workspace: one SQLite file, and the texts and corpora themselves. What was written is
there after any end of the process; a build that was cut off is listed as such and is taken up where it stopped.
"""

import asyncio
import json
import sqlite3
import time
from collections.abc import AsyncIterator, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from alacarte._io.files import atomic_write
from alacarte._io.sqlite import rows, transaction
from alacarte.concordance.concordance import delete_concordance, is_concordance
from alacarte.errors import AlacarteError
from alacarte.serve.jobs import BUILD, Jobs
from alacarte.serve.workspace import SUFFIX, Workspace, checked_name, corpus_name

MOST_NOTES = 10_000
LARGEST_TEXT = 1 << 33  # bytes of a file that is sent
ENDINGS = (".txt", ".jsonl", ".json", ".csv", ".tsv", ".parquet", ".gz", ".zst", ".bz2", ".xz")
TABLES = (
    "CREATE TABLE IF NOT EXISTS notes (number INTEGER PRIMARY KEY, address TEXT, title TEXT, text TEXT, changed REAL)",
    "CREATE TABLE IF NOT EXISTS builds (name TEXT PRIMARY KEY, request TEXT, state TEXT, message TEXT)",
)


class Desk:
    """Notes, texts and builds of one workspace. Its methods run in the server's event loop."""

    def __init__(self, workspace: Workspace, jobs: Jobs) -> None:
        self.workspace, self.jobs = workspace, jobs
        self._building: dict[str, asyncio.Task[None]] = {}
        self._progress: dict[str, dict[str, Any]] = {}

    # ---------------------------------------------------------------------------------------------------- files

    @property
    def _folder(self) -> Path:
        if self.workspace.folder is None:
            raise AlacarteError("this server has no folder to keep things in; start it with alc serve --workspace DIR")
        return self.workspace.folder

    @contextmanager
    def _using_folder(self) -> Iterator[None]:
        """A folder that cannot be written to, or a disk that is full, is said as such."""
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise AlacarteError(
                f"{self._folder} cannot be used ({reason}); make room, or start with --workspace and another folder"
            ) from None

    def _part(self, name: str) -> Path:
        part = self._folder / name
        with self._using_folder():
            part.mkdir(parents=True, exist_ok=True)
        return part

    @property
    def _database(self) -> Path:
        path = self._folder / "workspace.sqlite"
        with self._using_folder():
            self._folder.mkdir(parents=True, exist_ok=True)
            if not path.exists():
                with transaction(path) as connection:
                    for table in TABLES:
                        connection.execute(table)
        return path

    def _change(self, query: str, values: Sequence[Any]) -> int:
        path = self._database
        with self._using_folder(), transaction(path) as connection:
            return int(connection.execute(query, values).lastrowid or 0)

    # ---------------------------------------------------------------------------------------------------- notes

    def notes(self) -> list[dict[str, Any]]:
        """All notes, the newest first."""
        names = ("number", "address", "title", "text", "changed")
        found = rows(self._database, f"SELECT {', '.join(names)} FROM notes ORDER BY changed DESC, number DESC")
        return [dict(zip(names, row, strict=True)) for row in found]

    def keep_note(self, number: int, address: str, title: str, text: str) -> int:
        """Keep a note on a view, by the view's address; `number` 0 is a new one. Its number."""
        if not address.startswith("/") or address.startswith("//"):
            raise AlacarteError("the address of a view begins with one /, as in /word?phrase=bank")
        values = (address, title, text, time.time())
        if number:
            self._note(number)
            self._change(
                "UPDATE notes SET address = ?, title = ?, text = ?, changed = ? WHERE number = ?", (*values, number)
            )
            return number
        if len(self.notes()) >= MOST_NOTES:
            raise AlacarteError(f"there are {MOST_NOTES:,} notes already; delete some first")
        return self._change("INSERT INTO notes (address, title, text, changed) VALUES (?, ?, ?, ?)", values)

    def delete_note(self, number: int) -> None:
        self._note(number)
        self._change("DELETE FROM notes WHERE number = ?", (number,))

    def _note(self, number: int) -> None:
        if not rows(self._database, "SELECT 1 FROM notes WHERE number = ?", (number,)):
            raise AlacarteError(f"there is no note {number}; it may have been deleted")

    # ---------------------------------------------------------------------------------------------------- texts

    def texts(self) -> list[dict[str, Any]]:
        """The files that corpora can be built from."""
        found = sorted(path for path in self._part("texts").iterdir() if path.is_file() and path.name[0] != ".")
        return [{"name": path.name, "bytes": path.stat().st_size} for path in found]

    def text(self, name: str) -> Path:
        """Where a text is; nothing outside the folder of texts."""
        folder = self._part("texts")
        path = folder / checked_name(name)
        if not path.is_file() or path.resolve().parent != folder.resolve():
            raise AlacarteError(f"there is no text {name!r}; send it, or put the file into {folder}")
        return path

    async def receive(self, name: str, parts: AsyncIterator[bytes]) -> int:
        """Keep a text that is being sent, completely or not at all; its size in bytes."""
        path = self._part("texts") / checked_name(name)
        if not path.name.endswith(ENDINGS):
            raise AlacarteError(f"the name of a text ends with one of {', '.join(ENDINGS)}, which says how to read it")
        if path.exists():
            raise AlacarteError(
                f"there is a text {path.name!r} already; give this one another name, or delete that one"
            )
        size = 0
        with atomic_write(path) as file:
            async for part in parts:
                size += len(part)
                if size > LARGEST_TEXT:
                    raise AlacarteError(f"that is more than {LARGEST_TEXT >> 30} GB; put the file into {path.parent}")
                with self._using_folder():
                    await asyncio.to_thread(file.write, part)
        return size

    def delete_text(self, name: str) -> None:
        path = self.text(name)
        with self._using_folder():
            path.unlink()

    # --------------------------------------------------------------------------------------------------- builds

    def builds(self) -> list[dict[str, Any]]:
        """Builds that are going on, were cut off, stopped or failed; those that are done are corpora."""
        query = "SELECT name, request, state, message FROM builds WHERE state != 'done' ORDER BY name"
        return [
            {
                "name": name,
                **json.loads(request),
                "state": "cut off" if state == "building" and name not in self._building else state,
                "message": message,
                **self._progress.get(name, {}),
            }
            for name, request, state, message in rows(self._database, query)
        ]

    def build(self, name: str, texts: list[str], text: str, columns: list[str]) -> None:
        """Begin to build a corpus from texts of the workspace."""
        plain = checked_name(name)
        if not texts:
            raise AlacarteError("choose at least one text to build a corpus from")
        for each in texts:
            self.text(each)
        if plain in self.workspace.corpora or plain in {build["name"] for build in self.builds()}:
            raise AlacarteError(f"there is a corpus {plain!r} already; choose another name")
        request = {"texts": texts, "text": text or "text", "columns": columns}
        self._change("INSERT OR REPLACE INTO builds VALUES (?, ?, 'building', '')", (plain, json.dumps(request)))
        self._begin(plain, request)

    def resume(self, name: str) -> None:
        """Go on with a build that was stopped or cut off."""
        request = self._request(name)
        if name in self._building:
            raise AlacarteError(f"{name!r} is being built")
        self._settle(name, "building")
        self._begin(name, request)

    async def cancel(self, name: str) -> None:
        """Stop a build; what was read so far stays, and `resume` goes on from there."""
        self._request(name)
        await self._stopped(name)
        self._settle(name, "stopped")

    async def forget(self, name: str) -> None:
        """Delete a corpus of the workspace, or a build; the texts stay."""
        await self._stopped(name)
        made = {key: path for key, path in self.workspace.corpora.items() if key not in self.workspace.given}
        begun = {build["name"] for build in self.builds()}
        if name not in {*made, *begun}:
            raise AlacarteError(f"there is no corpus {name!r} that this server made, and it deletes no other")
        path = made.get(name) or self.corpus_path(name)
        if is_concordance(path):
            await asyncio.to_thread(delete_concordance, path)
        self._change("DELETE FROM builds WHERE name = ?", (corpus_name(path),))

    def corpus_path(self, name: str) -> Path:
        return self._part("corpora") / f"{checked_name(name)}{SUFFIX}"

    async def close(self) -> None:
        """End all builds; they are cut off, and can be taken up."""
        for name in list(self._building):
            await self._stopped(name)

    def _request(self, name: str) -> dict[str, Any]:
        found = rows(self._database, "SELECT request FROM builds WHERE name = ? AND state != 'done'", (name,))
        if not found:
            raise AlacarteError(f"there is no build {name!r}")
        return dict(json.loads(found[0][0]))

    def _settle(self, name: str, state: str, message: str = "") -> None:
        self._change("UPDATE builds SET state = ?, message = ? WHERE name = ?", (state, message, name))

    def _begin(self, name: str, request: dict[str, Any]) -> None:
        self._building[name] = asyncio.get_running_loop().create_task(self._built(name, request))

    async def _built(self, name: str, request: dict[str, Any]) -> None:
        try:
            async for message in self.jobs.ask(BUILD, {"name": name, **request}):
                if "progress" in message:
                    self._progress[name] = message["progress"]
                elif "error" in message:
                    self._settle(name, "failed", message["error"])
                else:
                    self._settle(name, "done")
        finally:
            self._building.pop(name, None)
            self._progress.pop(name, None)

    async def _stopped(self, name: str) -> None:
        task = self._building.get(name)
        if task is not None:
            task.cancel()
            await asyncio.wait([task])


async def desk_answer(value: Any) -> Any:
    """The value, or what a coroutine gives."""
    return await value if isinstance(value, Coroutine) else value
