"""Pages are written as GitHub shows them; here is what the site needs beside.

Links to what is no page of the site lead to the repository; each page gets the list of those below it (`contents` in
conf.py); and pages that lie beside docs/ (the changelog, …) are copied to docs/project/.
"""

import os
import re
import shutil
from html import escape
from pathlib import Path

PROJECT = ("CHANGELOG.md", "CONTRIBUTING.md", "CODE_OF_CONDUCT.md", "SECURITY.md", "RELEASING.md")
LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#)([^)\s#]+)(#[^)\s]*)?(?=\))")


def place_on_site(path, docs):
    """Where the site has the page of a file, or None if it has none."""
    if path == docs.parent / "README.md":
        return docs / "index.md"
    if path.parent == docs.parent and path.name in PROJECT:
        return docs / "project" / path.name.lower().replace("_", "-")
    return path if path.is_relative_to(docs) and path.is_file() else None


def with_links_of_site(text, page, docs, repository_files):
    """The text of a page with its links as the site needs them; `page` is the file that was written."""

    def link(match):
        path, anchor = match[1], match[2] or ""
        target = (page.parent / path).resolve()
        if not target.exists():
            return match[0]
        place = place_on_site(target, docs)
        if place is None:
            return f"{repository_files}{target.relative_to(docs.parent).as_posix()}{anchor}"
        return Path(os.path.relpath(place, place_on_site(page, docs).parent)).as_posix() + anchor

    return LINK.sub(link, text)


def write_project_pages(app):
    docs = Path(app.srcdir).resolve()
    folder = docs / "project"
    folder.mkdir(exist_ok=True)
    for name in PROJECT:
        page = docs.parent / name
        text = with_links_of_site(page.read_text(encoding="utf-8"), page, docs, app.config.repository_files)
        place = place_on_site(page, docs)
        if not place.exists() or place.read_text(encoding="utf-8") != text:
            place.write_text(text, encoding="utf-8")
    (folder / "index.md").write_text("# The project\n\n```{toctree}\n:glob:\n\n*\n```\n", encoding="utf-8")


def prepare(app, name, source):
    docs, page = Path(app.srcdir).resolve(), Path(app.env.doc2path(name))
    if page.suffix == ".md" and page.parent.name != "project":
        source[0] = with_links_of_site(source[0], page, docs, app.config.repository_files)
        if name == "index":
            app.env.note_dependency(docs.parent / "README.md")
            source[0] = with_readme(source[0], docs, app.config.repository_files)
        source[0] += listed(app.config.contents.get(name, []), app.config.short_titles)


def with_readme(index, docs, repository_files):
    """The first page of the site: the README, but for its links at the end, then the list of pages of docs/index.md."""
    readme = docs.parent / "README.md"
    text = readme.read_text(encoding="utf-8").partition("## More")[0]
    return with_links_of_site(text, readme, docs, repository_files) + index[index.index("## ") :]


def listed(pages, short_titles):
    lines = [f"{short_titles[page]} <{page}>" if page in short_titles else page for page in pages]
    return "\n".join(["\n\n```{toctree}", ":hidden:", "", *lines, "```", ""]) if pages else ""


def add_social_tags(app, name, template, context, doctree):
    """Say what a link to this page shows elsewhere: its title, a sentence and a picture."""
    config = app.config
    facts = {
        "og:type": "website",
        "og:title": re.sub("<[^>]*>", "", context.get("title") or config.html_title),
        "og:description": config.description,
        "og:url": f"{config.site}{name}.html",
        "og:image": f"{config.site}_static/{Path(config.social_picture).name}",
    }
    tags = [f'<meta property="{key}" content="{escape(value, quote=True)}">' for key, value in facts.items()]
    context["metatags"] = "\n".join(
        [context.get("metatags", ""), *tags, '<meta name="twitter:card" content="summary">']
    )


def copy_social_picture(app, error):
    if error is None and app.builder.format == "html":
        picture = Path(app.srcdir) / app.config.social_picture
        shutil.copy(picture, Path(app.outdir) / "_static" / picture.name)


def setup(app):
    app.add_config_value("repository_files", "", "env")
    app.add_config_value("contents", {}, "env")
    app.add_config_value("short_titles", {}, "env")
    for name in ("description", "site", "social_picture"):
        app.add_config_value(name, "", "html")
    app.connect("builder-inited", write_project_pages)
    app.connect("source-read", prepare)
    app.connect("html-page-context", add_social_tags)
    app.connect("build-finished", copy_social_picture)
    return {"parallel_read_safe": True}
