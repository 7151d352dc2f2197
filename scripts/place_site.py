"""Put the built site of a version beside those of other versions: `python scripts/place_site.py SITE PAGES VERSION`.

PAGES is a checkout of the branch that is served. The version's folder is replaced; `versions.json` lists all folders,
newest first; `index.html` leads to the newest release, or to `dev` while there is none; `404.html` is shown for pages
that do not exist.
"""

import json
import re
import shutil
import sys
from pathlib import Path

from address import addresses

NOT_FOUND = """<!doctype html><html lang="en"><meta charset="utf-8"><title>No such page – alacarte</title>
<meta name="viewport" content="width=device-width">
<style>body {{ font: 1.1rem/1.6 system-ui, sans-serif; max-width: 40rem; margin: 10vh auto; padding: 0 1rem }}</style>
<h1>There is no such page</h1>
<p>It may have moved, or belong to another release. From here you get to:</p>
<ul><li><a href="{0}index.html">the front page</a></li><li><a href="{0}search.html">the search</a></li>
<li><a href="{0}howto.html">recipes</a></li><li><a href="{0}reference.html">the reference</a></li></ul></html>
"""
REDIRECT = '<!doctype html><title>alacarte</title><meta http-equiv="refresh" content="0; url={}/">\n'


def place(site: Path, pages: Path, version: str) -> None:
    if not re.fullmatch(r"dev|\d+(\.\d+)+\w*", version):
        raise SystemExit(f"{version!r} is no version: 'dev' or numbers such as 0.3.0")
    shutil.rmtree(pages / version, ignore_errors=True)
    shutil.copytree(site, pages / version)
    folders = [path.name for path in pages.iterdir() if (path / "objects.inv").exists()]
    releases = sorted(set(folders) - {"dev"}, key=lambda name: [int(part) for part in re.findall(r"\d+", name)])[::-1]
    newest = releases[0] if releases else "dev"
    listed = [
        {"name": f"{name} (newest)" if name == newest else name, "version": name, "url": f"{addresses()[1]}{name}/"}
        for name in [*releases, "dev"]
        if name in folders
    ]
    (pages / "versions.json").write_text(json.dumps(listed, indent=1) + "\n", encoding="utf-8")
    (pages / "index.html").write_text(REDIRECT.format(newest), encoding="utf-8")
    (pages / "404.html").write_text(NOT_FOUND.format(f"{addresses()[1]}{newest}/"), encoding="utf-8")
    (pages / ".nojekyll").touch()


if __name__ == "__main__":
    place(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
