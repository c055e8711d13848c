#!/usr/bin/env python3
"""Opens a report in a real browser and checks that it works: check_report.py REPORT.html [--screenshots FOLDER]

    pip install playwright && apt-get install chromium
    falconzero report --run runs/falcon-quick
    python3 scripts/check_report.py runs/falcon-quick/report.html --screenshots docs

At the widths of a desk and a phone, light and dark: nothing is fetched from elsewhere, no script fails, the page does not
scroll sideways, text stands out from what is behind it, plots are drawn, and the sample games can be stepped through by
mouse and keyboard to their last ply and back.
"""

import argparse
import itertools
import pathlib
import shutil
import sys

WIDTHS = {"desk": (1280, 900), "phone": (390, 844)}
LEAST_CONTRAST = 4.5  # of normal text, WCAG 2.1, criterion 1.4.3

# The contrast of the text of each kind of element with the page's background.
CONTRAST = """() => {
  const light = (color) => {
    const [r, g, b] = color.match(/[\\d.]+/g).slice(0, 3).map((v) => {
      v /= 255;
      return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = light(getComputedStyle(document.body).backgroundColor);
  const kinds = ["h1", "h2", "p", "td", "th", "li", "figcaption"];
  return kinds.filter((kind) => document.querySelector(kind)).map((kind) => {
    const text = light(getComputedStyle(document.querySelector(kind)).color);
    return [kind, (Math.max(text, ground) + 0.05) / (Math.min(text, ground) + 0.05)];
  });
}"""


def check_games(page, problem):
    words = page.locator("#viewer p")
    if page.locator("#viewer").count() == 0 or words.count() == 0:
        return problem("there are no sample games")
    board = lambda: page.locator("#viewer svg").inner_html()
    start = board()
    page.get_by_text("next ›").click()
    if board() == start or not words.inner_text().startswith("Ply 1 "):
        problem("the button for the next ply does nothing")
    page.locator("#viewer").focus()
    page.keyboard.press("ArrowLeft")
    if board() != start:
        problem("the left arrow does not go back")
    page.get_by_text("end »").click()
    if not words.inner_text().split(":")[1].endswith("the end"):
        problem(f"the last ply is not the end: {words.inner_text()}")
    games = page.locator("#viewer option").count()
    page.locator("#viewer select").select_option(index=games - 1)
    if not words.inner_text().startswith("Ply 0 "):
        problem("another game does not begin at its start")


def check_page(browser, path, width, scheme, screenshots):
    found = []
    problem = lambda what: found.append(f"{width}, {scheme}: {what}")
    size = dict(zip(("width", "height"), WIDTHS[width]))
    page = browser.new_page(viewport=size, color_scheme=scheme)
    page.on("pageerror", lambda error: problem(f"a script fails: {error}"))
    page.on("console", lambda message: message.type == "error" and problem(message.text))
    page.on("request", lambda request: request.url.startswith(("file:", "data:")) or problem(f"it fetches {request.url}"))
    page.goto(path.resolve().as_uri())
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    if wide > 0:
        problem(f"it scrolls sideways by {wide} pixels")
    for kind, contrast in page.evaluate(CONTRAST):
        if contrast < LEAST_CONTRAST:
            problem(f"the text of <{kind}> has a contrast of {contrast:.1f}")
    for plot in page.locator("div.plot svg").all():
        box = plot.bounding_box()
        if not box or box["width"] < 100 or box["height"] < 50:
            problem(f"a plot is drawn at {box}")
    check_games(page, problem)
    if screenshots:
        page.screenshot(path=screenshots / f"report-{width}-{scheme}.png", full_page=True)
    page.close()
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", type=pathlib.Path)
    parser.add_argument("--screenshots", type=pathlib.Path, help="folder for a picture of each case")
    parser.add_argument("--browser", default=shutil.which("chromium") or shutil.which("google-chrome"))
    args = parser.parse_args()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=args.browser)
        cases = itertools.product(WIDTHS, ("light", "dark"))
        found = [what for case in cases for what in check_page(browser, args.report, *case, args.screenshots)]
        browser.close()
    for what in found:
        print(what)
    print(f"{len(found)} problems" if found else "no problem at any width, light or dark")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
