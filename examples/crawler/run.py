#!/usr/bin/env python3
"""Crawls a site of its own by four processes of crawl.py, and compares what was fetched with the site.

examples/with_redis.sh python3 examples/crawler/run.py
"""
import collections
import http.server
import os
import pathlib
import random
import subprocess
import sys
import threading

PAGES, LINKS, PROCESSES = 2_000, 20, 4
ELSEWHERE = ["http://elsewhere.example/", "http://[bad/", "http://h:99999999/"]
fetched = collections.Counter()
lock = threading.Lock()


class Site(http.server.BaseHTTPRequestHandler):
    """Pages that link to each other at random, under several spellings of their URLs.

    As on any site, some links are no URLs, and the last page breaks off.
    """

    def do_GET(self):
        page = int(self.path.removeprefix("/page") or 0) if self.path != "/" else 0
        with lock:
            fetched[page] += 1
        chance = random.Random(page)
        targets = [(page + 1) % PAGES] + [chance.randrange(PAGES) for _ in range(LINKS - 1)]
        links = "".join(f'<a href="{self.spelled(to, chance)}">{to}</a>' for to in targets)
        others = "".join(f"<a href='{url}'>elsewhere</a>" for url in ELSEWHERE)
        body = f"<html><body>{links}{others}</body></html>".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[:len(body) // 2] if page == PAGES - 1 else body)

    def spelled(self, page, chance):
        path = f"/page{page}" if page else "/"
        host = f"LOCALHOST:{self.server.server_port}"
        return chance.choice([path, f"{path}#part{chance.randrange(9)}", f"http://{host}{path}"])

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 100


def main():
    site = Server(("127.0.0.1", 0), Site)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    crawler = pathlib.Path(__file__).with_name("crawl.py")
    command = [sys.executable, crawler, os.environ["EVERSEEN_STORE"], f"http://localhost:{site.server_port}/"]
    crawlers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(PROCESSES)]
    by_process = [int(crawler.communicate()[0].split()[0]) for crawler in crawlers]
    site.shutdown()

    twice = sum(count - 1 for count in fetched.values())
    missed = PAGES - len(fetched)
    print(f"{len(fetched):,} pages with {PAGES * LINKS:,} links, fetched by {PROCESSES} processes: {by_process}")
    print(f"fetched twice {twice}, missed {missed}: difference {twice + missed}")
    sys.exit(0 if twice + missed == 0 and sum(by_process) == PAGES else 1)


if __name__ == "__main__":
    main()
