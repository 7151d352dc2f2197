"""The page of `alc serve` in a cell of a notebook."""

import atexit
import subprocess
import sys
from html import escape
from pathlib import Path
from socket import gethostname
from urllib.parse import urlsplit

from alacarte.errors import AlacarteError


class Exploring:
    """A server of the page, as long as this object or the notebook lives; notebooks show it as the page itself."""

    def __init__(self, path: Path, model: str, height: int) -> None:
        self.height = height
        command = [sys.executable, "-m", "alacarte", "serve", str(path), "--model", model]
        self._server = subprocess.Popen(
            [*command, "--port", "0", "--no-browser", "--notebook"], stdout=subprocess.PIPE, text=True
        )
        atexit.register(self.close)
        assert self._server.stdout is not None
        said = self._server.stdout.readline()
        self.address = next((word for word in said.split() if word.startswith("http")), "")
        if not self.address:
            raise AlacarteError("the page did not start; what is wrong is said above")

    def close(self) -> None:
        """End the server."""
        self._server.kill()
        self._server.communicate()
        atexit.unregister(self.close)

    def __repr__(self) -> str:
        return f"the page at {self.address}"

    def _repr_html_(self) -> str:
        """Return the page, for notebooks."""
        frame = f'src="{escape(self.address)}" width="100%" height="{self.height}" style="border:1px solid #ccc"'
        port, name = urlsplit(self.address).port, escape(gethostname())
        page = f'<a href="{escape(self.address)}" target="_blank">the page</a>'
        elsewhere = (
            f"<p>Nothing here? Then Jupyter runs on another machine than your browser. Type "
            f"<code>ssh -N -L {port}:localhost:{port} {name}</code> on yours, and open {page}.</p>"
        )
        return f'<iframe title="à la carte" {frame}></iframe>{elsewhere}'
