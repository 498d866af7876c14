#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Looks at the pages of a site in Chromium: look.py SITE PICTURES

Every page is laid out at desktop and phone width. A page without a heading or style, one that is
wider than its window, a box that ends outside, and small text are faults. Pictures of some pages are
left in the folder PICTURES.
"""
import functools
import http.server
import json
import pathlib
import queue
import subprocess
import sys
import tempfile
import threading

SECONDS = 240  # for the browser to answer
WIDTHS = {"desktop": (1280, 900), "phone": (390, 844)}
PICTURED = ["index", "guide-go", "guide-c", "c-nef", "go-nef", "ops", "nef-format", "figures", "abi", "extending"]

PROBE = """<!doctype html><body><script>
const pages = %s, width = %d, height = %d, out = [];
async function look(page) {
  const frame = document.createElement("iframe");
  frame.style.cssText = `width:${width}px;height:${height}px;border:0`;
  frame.src = page + ".html";
  document.body.append(frame);
  await new Promise(done => frame.onload = done);
  const doc = frame.contentDocument, root = doc.documentElement;
  if (!doc.querySelector("main h1")) out.push(page + ": no heading");
  if (root.scrollWidth > width) out.push(page + ": " + root.scrollWidth + " wide in a window of " + width);
  if (doc.styleSheets.length != 1) out.push(page + ": no style sheet");
  const size = parseFloat(frame.contentWindow.getComputedStyle(doc.querySelector("main p") || doc.body).fontSize);
  if (size < 15) out.push(page + ": text of " + size + " px");
  for (const box of doc.querySelectorAll("main pre, main .wide, main figure"))
    if (box.getBoundingClientRect().right > width + 1) out.push(page + ": a box ends outside the window");
  frame.remove();
}
(async () => {
  for (const page of pages) await look(page).catch(fault => out.push(page + ": " + fault));
  await fetch("/found", {method: "POST", body: JSON.stringify(out)});
})();
</script>"""


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves the site, and takes what the probe found."""
    found = queue.Queue()

    def log_message(self, *_):
        pass

    def do_POST(self):
        self.found.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(204)
        self.end_headers()


def chromium(profile, *arguments):
    return subprocess.Popen(["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                             "--disable-dev-shm-usage", f"--user-data-dir={profile}", *arguments],
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def probe(profile, url):
    """What a probe page found; None when the browser gave no answer."""
    browser = chromium(profile, "--remote-debugging-port=0", "--window-size=1600,1200", url)
    try:
        return Handler.found.get(timeout=SECONDS)
    except queue.Empty:
        return None
    finally:
        browser.terminate()
        browser.wait(timeout=60)


def main(site, pictures):
    site, pictures = pathlib.Path(site), pathlib.Path(pictures)
    pictures.mkdir(parents=True, exist_ok=True)
    pages = json.loads((site / "pages.json").read_text())
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    at = f"http://127.0.0.1:{server.server_port}"
    faults, taken = [], 0
    with tempfile.TemporaryDirectory() as profile:
        for name, (width, height) in WIDTHS.items():
            page = site / f"probe-{name}.html"
            page.write_text(PROBE % (json.dumps(pages), width, height))
            found = probe(f"{profile}/{name}", f"{at}/{page.name}")
            page.unlink()
            if found is None:
                faults.append(f"{name}: the browser gave no answer")
                continue
            faults += [f"{name}: {fault}" for fault in found]
            for page in [page for page in PICTURED if page in pages]:
                picture = pictures / f"{page}-{name}.png"
                chromium(f"{profile}/pictures", f"--window-size={width},{height * 2}", f"--screenshot={picture}",
                         f"{at}/{page}.html").wait(timeout=SECONDS)
                taken += picture.exists()
    server.shutdown()
    for fault in faults:
        print("look: " + fault)
    print(f"{len(pages)} pages at {len(WIDTHS)} widths, {len(faults)} faults, {taken} pictures in {pictures}")
    return 1 if faults or taken == 0 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
