"""Checks a built site: links lead somewhere, every page can be reached, and pages load nothing from the network.

    python scripts/check_site.py target/docs/html

Only pages of the site itself are read; what lies in `rust/` (rustdoc's pages) may be linked to. Links to other sites are not
followed.
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

#: Attributes whose address a browser loads by itself.
LOADED = {("script", "src"), ("img", "src"), ("iframe", "src"), ("source", "src"), ("object", "data"), ("video", "src")}
#: Relations of <link> that a browser loads.
RELATIONS = {"stylesheet", "preload", "icon", "shortcut icon", "modulepreload", "manifest"}


class Page(HTMLParser):
    """The anchors of a page, what it loads, and where it links to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if "id" in given:
            self.anchors.add(given["id"])
        for name, value in given.items():
            if (tag, name) in LOADED:
                self.loads.append(value)
        if tag == "link" and given.get("rel", "").lower() in RELATIONS:
            self.loads.append(given.get("href", ""))
        if tag == "a" and "href" in given:
            self.links.append(given["href"])


def reached(site: Path, pages: dict[Path, Page]) -> set[Path]:
    """The pages that links lead to, from the first one on."""
    seen: set[Path] = set()
    waiting = [site / "index.html"]
    while waiting:
        path = waiting.pop()
        if path in seen or path not in pages:
            continue
        seen.add(path)
        parts = [urlsplit(address) for address in pages[path].links]
        local = [part.path for part in parts if part.path and not part.scheme and not part.netloc]
        waiting += [(path.parent / unquote(name)).resolve() for name in local]
    # Sphinx makes these for its own scripts.
    return seen | {site / "search.html", site / "genindex.html"}


def problems(site: Path) -> list[str]:
    """What is wrong with the site."""
    own = [path for path in sorted(site.rglob("*.html")) if path.relative_to(site).parts[0] not in ("rust", "_static")]
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in own}
    found = [] if own else [f"{site} has no pages"]
    found += [f"no page leads to {path.relative_to(site)}" for path in sorted(set(own) - reached(site, pages))]
    for path, page in pages.items():
        name = path.relative_to(site)
        for address in page.loads:
            parts = urlsplit(address)
            if parts.scheme == "data":
                continue
            if parts.scheme or parts.netloc:
                found.append(f"{name} loads {address} from the network")
            elif not (path.parent / unquote(parts.path)).exists():
                found.append(f"{name} loads {address}, which does not exist")
        for address in page.links:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path.resolve()
            if not target.exists():
                found.append(f"{name} links to {address}, which does not exist")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                found.append(f"{name} links to {address}, but that page has no such anchor")
    for sheet in sorted(site.rglob("*.css")):
        if sheet.relative_to(site).parts[0] != "rust":
            text = sheet.read_text(encoding="utf-8")
            if "url(http" in text or "url(//" in text or "@import url" in text:
                found.append(f"{sheet.relative_to(site)} loads something from the network")
    return found


def main() -> None:
    site = Path(sys.argv[1]).resolve()
    found = problems(site)
    for problem in dict.fromkeys(found):
        print(problem, file=sys.stderr)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
