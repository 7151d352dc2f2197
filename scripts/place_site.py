"""Put the built site of a version beside those of other versions: `python scripts/place_site.py SITE PAGES VERSION`.

PAGES is a checkout of the branch that is served. The version's folder is replaced; `versions.json` lists all folders,
newest first; `index.html` leads to the newest release, or to `dev` while there is none.
"""

import json
import re
import shutil
import sys
from pathlib import Path

from address import addresses

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
    (pages / ".nojekyll").touch()


if __name__ == "__main__":
    place(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
