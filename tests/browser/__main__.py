"""Open every built page in Chromium, at two widths, in light and dark: `python -m tests.browser doc/_build`."""

from __future__ import annotations

import argparse
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urldefrag

WIDTHS = (1280, 400)
OPTIONS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--allow-file-access-from-files"]
LOADED = """
    if (window.MathJax && MathJax.startup) MathJax.startup.promise.then(() => {document.mathDone = true});
    return document.readyState === 'complete' && (!window.MathJax || !MathJax.startup || document.mathDone)
"""
FACTS = """
    const images = [...document.images], article = document.querySelector('.bd-article-container');
    const scrolls = e => e && e.scrollWidth > e.clientWidth, wide = scrolls(document.documentElement) || scrolls(article);
    const edge = article ? article.getBoundingClientRect().right : innerWidth;
    const wraps = CSS.supports('text-indent: 1em hanging each-line');  // as in site.css
    const fits = e => e.getBoundingClientRect().right <= edge + 1;
    return {
        links: [...document.links].map(a => a.href),
        mute: images.filter(i => !i.alt).map(i => i.src),
        empty: images.filter(i => i.loading !== 'lazy' && !i.naturalWidth).map(i => i.src),
        drawn: document.querySelectorAll('svg[role=img]:not([aria-hidden=true]):not(:has(title))').length,
        barred: [...document.querySelectorAll("span.math")].filter(e => scrolls(e)
            && getComputedStyle(e).scrollbarWidth !== 'none'
            && getComputedStyle(e).overflowX !== 'visible').map(e => e.textContent),
        wide: wide ? [...document.body.querySelectorAll('*')].filter(e => !fits(e)).slice(0, 3)
            .map(e => e.tagName + '.' + e.className) : [],
        scrolls: wide,
        hidden: [...document.querySelectorAll(`article :is(.pst-scrollable-table-container, ${wraps ? 'pre' : ''})`)]
            .filter(scrolls).map(e => e.innerText.slice(0, 40)),
        lists: [...document.querySelectorAll('table.table td :is(ol, ul, dl)')].length,
    }
"""
COLOURS = """
    document.documentElement.dataset.theme = arguments[0];
    const style = getComputedStyle(document.body);
    return [style.backgroundColor, style.color]
"""


def brightness(colour: str) -> float:
    """Return the mean of red, green and blue, of 255."""
    return sum(map(float, re.findall(r"[\d.]+", colour)[:3])) / 3


class Site:
    """The built pages, their anchors, and a browser to look at them."""

    def __init__(self, root: Path):
        from selenium import webdriver

        self.root = root.resolve()
        self.pages = sorted(path for path in self.root.rglob("*.html") if "_static" not in path.parts)
        self.anchors = {path: set(re.findall(r'\b(?:id|name)="([^"]+)"', path.read_text())) for path in self.pages}
        options = webdriver.ChromeOptions()
        for option in OPTIONS:
            options.add_argument(option)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options, webdriver.ChromeService(shutil.which("chromedriver")))

    def open(self, page: Path, width: int, query: str = "") -> None:
        """Load a page at a width, with its formulae set."""
        from selenium.webdriver.support.wait import WebDriverWait

        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        self.driver.get(page.as_uri() + query)
        WebDriverWait(self.driver, 60).until(lambda driver: driver.execute_script(LOADED))

    def broken(self, links: list[str]) -> Iterator[str]:
        """Yield the links within the site that lead nowhere."""
        for link in dict.fromkeys(links):
            address, anchor = urldefrag(link)
            if not address.startswith("file:"):
                continue
            target = Path(unquote(address.removeprefix("file://").partition("?")[0]))
            if not target.is_file() or (anchor and target in self.anchors and unquote(anchor) not in self.anchors[target]):
                yield link

    def faults(self, page: Path, width: int) -> Iterator[str]:
        """Yield what is wrong with a page at a width."""
        self.open(page, width)
        facts = self.driver.execute_script(FACTS)
        yield from (f"broken link {link}" for link in self.broken(facts["links"]))
        yield from (f"no alternative text: {image}" for image in facts["mute"])
        yield from (f"image not found: {image}" for image in facts["empty"])
        yield from (f"console: {entry['message']}" for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE")
        if facts["drawn"]:
            yield "a drawing without a title"
        if facts["lists"]:
            yield "a list in the cell of a table, such as (1)"
        if width == WIDTHS[0]:
            yield from (f"wider than the column: {start!r}" for start in facts["hidden"])
        if facts["scrolls"]:
            yield f"scrolls sideways, by {facts['wide']}"
        yield from (f"a scroll bar under the formula {formula}" for formula in facts["barred"])
        for theme, dark in (("light", False), ("dark", True)):
            back, text = map(brightness, self.driver.execute_script(COLOURS, theme))
            if (back < 128) != dark or abs(back - text) < 100:
                yield f"{theme}: background {back:.0f}, text {text:.0f}"

    def search_fault(self) -> Iterator[str]:
        """Yield a fault unless the search finds the page of a class."""
        from selenium.webdriver.support.wait import WebDriverWait

        self.open(self.root / "search.html", WIDTHS[0], "?q=PredtronRanker")
        found = "return [...document.querySelectorAll('#search-results a')].some(a => a.href.includes('PredtronRanker'))"
        try:
            WebDriverWait(self.driver, 30).until(lambda driver: driver.execute_script(found))
        except Exception:
            yield "the search does not find PredtronRanker"


def main() -> int:
    """Print what is wrong with the pages, and return 1 if anything is."""
    parser = argparse.ArgumentParser(prog="python -m tests.browser", description=__doc__)
    parser.add_argument("root", type=Path, help="the folder with the built pages")
    arguments = parser.parse_args()
    if shutil.which("chromedriver") is None:
        parser.error("chromedriver is not there; on Debian it is in the packages chromium and chromium-driver")
    site = Site(arguments.root)
    try:
        faults = [
            f"{page.relative_to(site.root)} at {width}: {fault}"
            for width in WIDTHS
            for page in site.pages
            for fault in site.faults(page, width)
        ]
        faults += site.search_fault()
    finally:
        site.driver.quit()
    print(*faults, f"{len(site.pages)} pages at {len(WIDTHS)} widths, {len(faults)} faults", sep="\n")
    return int(bool(faults) or not site.pages)


if __name__ == "__main__":
    sys.exit(main())
