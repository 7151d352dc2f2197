"""How Sphinx builds the site; `python docs/build.py` calls it. Nothing is fetched from the network."""

import os
import sys
from pathlib import Path

import alacarte

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent / "scripts")]
from address import addresses  # noqa: E402

REPOSITORY, SITE = addresses()

project = "alacarte"
author = "The alacarte developers"
copyright = f"{author}, MIT licence"  # the name that Sphinx asks for
version = release = alacarte.__version__
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.viewcode",
    "sphinx_copybutton",
    "api_pages",
    "markdown_docstrings",
    "github_pages",
]
root_doc = "index"
exclude_patterns = ["_build", "**/.ipynb_checkpoints"]
nitpicky = True
# What has a page of its own must be linked to correctly; other libraries and private names have none here.
nitpick_ignore_regex = [("py:.*", r"(?!alacarte\.).*"), ("py:.*", r"alacarte\..*\._.*"), ("py:.*", r"alacarte\._.*")]
nitpick_ignore = [("py:class", "alacarte.vectors.keyed_matrix.Default")]  # a type variable

suppress_warnings = [
    "myst-nb.lexer",  # notebooks that are not run do not say what their language is
]

# Markdown, as GitHub shows it.
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 4
myst_links_external_new_tab = False


# The notebooks of the gallery are text. They are run when the site is built, and again only when they have changed.
nb_execution_mode = os.environ.get("ALACARTE_NOTEBOOKS", "cache")
nb_execution_timeout = 600  # for a cell; the first one may have to compile
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_merge_streams = True

# The reference, from the docstrings.
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_default_options = {"members": True, "show-inheritance": True}
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 100

html_theme = "pydata_sphinx_theme"
html_title = "alacarte"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_theme_options = {
    "github_url": REPOSITORY,
    "use_edit_page_button": False,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    "pygments_light_style": "default",
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
}
# Several releases side by side: a release's folder names itself, and the list of all lies beside them (RELEASING.md).
if os.environ.get("ALACARTE_DOCS_VERSION"):
    version_in_list = os.environ["ALACARTE_DOCS_VERSION"]
    html_theme_options["switcher"] = {"json_url": "../versions.json", "version_match": version_in_list}
    html_theme_options["navbar_end"] = ["version-switcher", "theme-switcher", "navbar-icon-links"]
    html_theme_options["check_switcher"] = False

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

description = (
    "Vectors for any word, phrase or sense, in the space of pretrained word vectors, from a handful of contexts"
)
site = f"{SITE}{os.environ.get('ALACARTE_DOCS_VERSION', 'dev')}/"  # where this version of the site will be
social_picture = "figures/demo.png"  # what others show beside a link to a page
repository_files = f"{REPOSITORY}/blob/main/"

# Which page stands below which. The pages are Markdown that GitHub shows; the lists are added when the site is built.
# A page of docs/ that is named nowhere stands among the guides.
contents = {
    "index": [
        "tutorial",
        "howto",
        "gallery/index",
        "guides",
        "coming-from",
        "background",
        "reference",
        "reproduction",
        "project/index",
    ],
    "guides": [
        "meaning",
        "form",
        "uncertainty",
        "comparing",
        "regression",
        "senses",
        "documents",
        "context-weights",
        "concordance",
        "serve",
        "service",
        "languages",
        "remote",
        "cluster",
        "databases",
    ],
    "coming-from": ["from-gensim", "from-spacy", "from-fasttext", "from-conText", "from-r"],
    "background": [
        *("method", "inference", "performance", "trust", "architecture"),
        *sorted(f"evidence/{path.stem}" for path in (HERE / "evidence").glob("*.md")),
    ],
    "reference": ["api/index", "glossary"],
    "reproduction": sorted(f"reproduction/{path.stem}" for path in (HERE / "reproduction").glob("*.md")),
    "gallery/index": ["speeches", "spelling", "article", "languages"],
}
# What the header calls pages with long titles, so that all names stand in one row.
short_titles = {"tutorial": "Tutorial", "howto": "How to", "coming-from": "Coming from", "project/index": "Project"}
named = {page for pages in contents.values() for page in pages} | {"index"}
contents["guides"] += sorted({path.stem for path in HERE.glob("*.md")} - named)
