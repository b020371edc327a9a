"""Configures Sphinx for the documentation site.

    cargo xtask docs

The pages load nothing from the network: MathJax is copied from a wheel. Tutorials are executed in every build.
"""

from __future__ import annotations

import atexit
import importlib.metadata
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import robust_td

project = "robust-td"
author = "The robust-td developers"
copyright = "The robust-td developers; MIT or Apache-2.0"
release = version = robust_td.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
]
exclude_patterns = ["_build", "requirements.txt", "upstream-vzeroupper.md"]
nitpicky = False

# ---- Markdown and notebooks
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
# rustdoc's pages, which `cargo xtask docs` copies into the site; links are those of pages in api/.
myst_url_schemes = {"http": None, "https": None, "rust": {"url": "../rust/{{path}}"}}
nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_timeout = 300
nb_execution_raise_on_error = True
nb_merge_streams = True
nb_mime_priority_overrides = [("html", "text/html", 0)]

# ---- Python reference
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_class_signature = "mixed"
python_maximum_signature_line_length = 88
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
add_module_names = False

# ---- Pages
html_theme = "pydata_sphinx_theme"
html_title = "robust-td"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
# Pages without others beside them.
html_sidebars = {name: [] for name in ("index", "install", "tour", "speed", "findings", "glossary")}
html_theme_options = {
    "logo": {"text": "robust-td"},
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "friendly",
    "pygments_dark_style": "monokai",
}
mathjax_path = "mathjax/tex-svg.js"
# A page that other pages link to need not be in a table of contents; `scripts/check_site.py` finds pages that nothing leads to.
suppress_warnings = ["toc.not_included"]
# Of fences that name no language.
highlight_language = "text"


def isolate_notebooks() -> None:
    """Keeps the settings of the user's own IPython out of the tutorials, and its notices out of the build's output."""
    folder = Path(tempfile.mkdtemp(prefix="ipython-"))
    profile = folder / "profile_default"
    profile.mkdir()
    (profile / "ipython_kernel_config.py").write_text("c = get_config()\nc.IPKernelApp.log_level = 'ERROR'\n")
    os.environ["IPYTHONDIR"] = str(folder)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)


def copy_mathjax(app: Any) -> None:
    """Copies the one file of MathJax that pages use, out of the wheel that has it."""
    name = "sphinx-mathjax-offline"
    files = importlib.metadata.files(name) or []
    found = [Path(str(file.locate())) for file in files if file.name == "tex-svg.js"]
    if not found:
        raise RuntimeError(f"the package {name} has no tex-svg.js; install docs/requirements.txt")
    into = Path(app.outdir) / "_static" / "mathjax"
    into.mkdir(parents=True, exist_ok=True)
    shutil.copy(found[0], into / "tex-svg.js")


def setup(app: Any) -> None:
    isolate_notebooks()
    app.connect("html-collect-pages", lambda app: copy_mathjax(app) or [])
