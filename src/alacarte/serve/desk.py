"""What the server keeps: notes and saved views, texts that were sent, corpora that are being built.

All of it is in the folder of the workspace: one SQLite file, and the texts and corpora themselves. What was written is
there after any end of the process; a build that was cut off is listed as such and is taken up where it stopped.
"""

import asyncio
import json
import os
import re
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from alacarte._io.files import atomic_write
from alacarte._io.sqlite import SqliteFile
from alacarte.concordance.folder import delete_concordance
from alacarte.errors import AlacarteError
from alacarte.serve.jobs import BUILD, Jobs
from alacarte.serve.questions import Parameter
from alacarte.serve.workspace import Workspace, checked_name, is_inside

PAGES = ("/", "/start", "/invent", "/word", "/compare", "/map", "/corpora", "/notes")  # views of the one page
MOST_NOTES = 10_000
LARGEST_TEXT = 1 << 33  # bytes of a file that is sent
TEXT_ENDINGS = (".txt", ".jsonl", ".json", ".csv", ".tsv", ".parquet", ".gz", ".zst", ".bz2", ".xz")
DESK_TABLES = (
    "CREATE TABLE notes (number INTEGER PRIMARY KEY, address TEXT, title TEXT, text TEXT, changed REAL)",
    "CREATE TABLE builds (name TEXT PRIMARY KEY, request TEXT, state TEXT, message TEXT) WITHOUT ROWID",
)
NewCorpusName = Annotated[str, Parameter("the name of a corpus", required=True, most=80)]
NoteNumber = Annotated[int, Parameter("the note", required=True, least=1, most=2**53)]


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
        """Raise an error in words for a folder that cannot be written to, or a full disk."""
        try:
            yield
        except OSError as error:
            if isinstance(error, AlacarteError):
                raise
            raise AlacarteError(
                f"{self._folder} cannot be used ({error.strerror}); make room, or start with --workspace and another "
                "folder"
            ) from None

    def _part(self, name: str) -> Path:
        part = self._folder / name
        with self._using_folder():
            part.mkdir(parents=True, exist_ok=True)
        self._refuse_link(part)
        return part

    def _refuse_link(self, path: Path) -> None:
        """Nothing is written or deleted outside of the workspace."""
        if not is_inside(path, self._folder):
            raise AlacarteError(f"{path} is a link to another place, and this server changes only its own folder")

    @property
    def _database(self) -> SqliteFile:
        path = self._folder / "workspace.sqlite"
        file = SqliteFile(path, [re.escape(table) for table in DESK_TABLES])
        with self._using_folder():
            self._folder.mkdir(parents=True, exist_ok=True)
            self._refuse_link(path)
            if not path.exists():
                file.create(*DESK_TABLES)
        return file

    def _change(self, query: str, values: Sequence[Any]) -> int:
        with self._database.changing() as connection:
            return int(connection.execute(query, values).lastrowid or 0)

    # ---------------------------------------------------------------------------------------------------- notes

    def notes(self) -> dict[str, Any]:
        """Return notes and saved views, the newest first."""
        names = ("number", "address", "title", "text", "changed")
        found = self._database.rows(f"SELECT {', '.join(names)} FROM notes ORDER BY changed DESC, number DESC")
        return {"notes": [dict(zip(names, row, strict=True)) for row in found]}

    def keep_note(
        self,
        number: Annotated[int, Parameter("the note to change; 0 for a new one", default=0, most=2**53)],
        address: Annotated[str, Parameter("the address of the view, from its / on", required=True)],
        title: Annotated[str, Parameter("a title", default="", most=200)],
        text: Annotated[str, Parameter("the note", default="")],
    ) -> dict[str, Any]:
        """Keep a note on a view."""
        if not address.startswith(PAGES) or urlsplit(address).path not in PAGES or not address.isprintable():
            raise AlacarteError("the address of a view begins with / and its name, as in /word?phrase=bank")
        values = tuple(map(_whole_characters, (address, title, text)))
        if number:
            self._check_note(number)
            query = "UPDATE notes SET address = ?, title = ?, text = ?, changed = ? WHERE number = ?"
            self._change(query, (*values, time.time(), number))
            return {"number": number}
        if self._database.rows("SELECT COUNT(*) FROM notes") >= [(MOST_NOTES,)]:
            raise AlacarteError(f"there are {MOST_NOTES:,} notes already; delete some first")
        query = "INSERT INTO notes (address, title, text, changed) VALUES (?, ?, ?, ?)"
        return {"number": self._change(query, (*values, time.time()))}

    def delete_note(self, number: NoteNumber) -> None:
        """Delete a note."""
        self._check_note(number)
        self._change("DELETE FROM notes WHERE number = ?", (number,))

    def _check_note(self, number: int) -> None:
        if not self._database.rows("SELECT 1 FROM notes WHERE number = ?", (number,)):
            raise AlacarteError(f"there is no note {number}; it may have been deleted")

    # ---------------------------------------------------------------------------------------------------- texts

    def texts(self) -> list[dict[str, Any]]:
        """Return the files that corpora can be built from."""
        found = sorted(path for path in self._part("texts").iterdir() if path.is_file() and path.name[0] != ".")
        inside = [path for path in found if is_inside(path, self._folder)]
        return [{"name": path.name, "bytes": path.stat().st_size} for path in inside]

    def text(self, name: str) -> Path:
        """Where a text is; nothing outside the folder of texts."""
        path = self._part("texts") / checked_name(name)
        if not path.is_file() or not is_inside(path, self._folder):
            raise AlacarteError(f"there is no text {name!r}; send it, or put the file into {path.parent}")
        return path

    async def receive(
        self,
        name: Annotated[str, Parameter("the name of the file", required=True, most=80)],
        parts: AsyncIterator[bytes],
    ) -> dict[str, int]:
        """Keep a text that is sent as the body, completely or not at all."""
        path = self._part("texts") / checked_name(name)
        if not path.name.endswith(TEXT_ENDINGS):
            raise AlacarteError(
                f"the name of a text ends with one of {', '.join(TEXT_ENDINGS)}, which says how to read it"
            )
        if os.path.lexists(path):
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
        return {"bytes": size}

    def delete_text(self, name: Annotated[str, Parameter("the name of a text", required=True, most=80)]) -> None:
        """Delete a text."""
        path = self.text(name)
        with self._using_folder():
            path.unlink()

    # --------------------------------------------------------------------------------------------------- builds

    def overview(self) -> dict[str, Any]:
        """Corpora, builds and texts."""
        workspace = self.workspace
        listed = [
            {"name": name, "path": str(path), "ours": workspace.is_own(name)}
            for name, path in workspace.corpora.items()
        ]
        if workspace.folder is None:
            return {"corpora": listed, "builds": [], "texts": [], "folder": None}
        folder = str(workspace.folder / "texts")
        return {"corpora": listed, "builds": self.builds(), "texts": self.texts(), "folder": folder}

    def builds(self) -> list[dict[str, Any]]:
        """Return builds that are going on, were cut off, stopped or failed; those that are done are corpora."""
        query = "SELECT name, request, state, message FROM builds WHERE state != 'done' ORDER BY name"
        return [
            {
                "name": name,
                **json.loads(request),
                "state": "cut off" if state == "building" and name not in self._building else state,
                "message": message,
                **self._progress.get(name, {}),
            }
            for name, request, state, message in self._database.rows(query)
        ]

    def build(
        self,
        name: NewCorpusName,
        texts: Annotated[list[str], Parameter("the names of texts", required=True, most=1000)],
        text: Annotated[str, Parameter("the column or field with the text", default="text", most=200)],
        columns: Annotated[list[str], Parameter("columns or fields to keep", most=40)],
    ) -> None:
        """Begin to build a corpus from texts."""
        plain = checked_name(name)
        if not texts:
            raise AlacarteError("choose at least one text to build a corpus from")
        for each in texts:
            self.text(each)
        self._part("corpora")
        path = self.workspace.corpus_path(plain)
        if plain in self.workspace.corpora or os.path.lexists(path) or self._requests(plain):
            raise AlacarteError(f"there is a corpus {plain!r} already; choose another name")
        request = {"texts": texts, "text": text or "text", "columns": columns}
        self._change("INSERT OR REPLACE INTO builds VALUES (?, ?, 'building', '')", (plain, json.dumps(request)))
        self._begin(plain, request)

    def resume(self, name: NewCorpusName) -> None:
        """Go on with a build that was stopped or cut off."""
        request = self._request(name)
        if name in self._building:
            raise AlacarteError(f"{name!r} is being built")
        self._settle(name, "building")
        self._begin(name, request)

    async def cancel(self, name: NewCorpusName) -> None:
        """Stop a build; what was read so far stays, and a build that is resumed goes on from there."""
        self._request(name)
        await self._stopped(name)
        self._settle(name, "stopped")

    async def forget(self, name: NewCorpusName) -> None:
        """Delete a corpus that was built here, or a build; the texts stay."""
        await self._stopped(name)
        if not self.workspace.is_own(name) and not self._requests(name):
            raise AlacarteError(f"there is no corpus {name!r} that this server made, and it deletes no other")
        path = self.workspace.corpora[name] if self.workspace.is_own(name) else self.workspace.corpus_path(name)
        self._refuse_link(path)
        await asyncio.to_thread(delete_concordance, path)
        self._change("DELETE FROM builds WHERE name = ?", (path.stem,))

    async def close(self) -> None:
        """End all builds; they are cut off, and can be taken up."""
        for name in list(self._building):
            await self._stopped(name)

    def _requests(self, name: str) -> list[dict[str, Any]]:
        """Return what was asked of a build that is not done; nothing, if there is none."""
        query = "SELECT request FROM builds WHERE name = ? AND state != 'done'"
        return [json.loads(request) for (request,) in self._database.rows(query, (_whole_characters(name),))]

    def _request(self, name: str) -> dict[str, Any]:
        found = self._requests(name)
        if not found:
            raise AlacarteError(f"there is no build {name!r}")
        return found[0]

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


def _whole_characters(text: str) -> str:
    """Return the text with half characters replaced, which no database takes."""
    return text.encode("utf-8", "replace").decode()
