#!/usr/bin/env python3
"""Crawls a site in many processes, each page once, with a filter of all URLs that were ever queued.

python3 examples/crawler/crawl.py redis://localhost http://localhost:8000/

Start it as often as you like, on any machine: all processes share the queue and the filter in Redis.
"""
import html.parser
import http.client
import sys
import urllib.parse
import urllib.request

import redis

import everseen


class Links(html.parser.HTMLParser):
    """The links of a page."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found += [value for name, value in attrs if tag == "a" and name == "href" and value]


def canonical(url):
    """One form for each page: no fragment, host in small letters, no default port, parameters in order."""
    parts = urllib.parse.urlsplit(url)
    host = parts.hostname or ""
    if parts.port and (parts.scheme, parts.port) not in (("http", 80), ("https", 443)):
        host += f":{parts.port}"
    query = urllib.parse.urlencode(sorted(urllib.parse.parse_qsl(parts.query, keep_blank_values=True)))
    return urllib.parse.urlunsplit((parts.scheme, host, parts.path or "/", query, ""))


def links_of(url, text):
    """The links of a page to pages of the same host."""
    links = []
    for link in Links(text).found:
        try:
            links.append(canonical(urllib.parse.urljoin(url, link)))
        except ValueError:  # it is not a URL, such as http://[bad/
            continue
    return [link for link in links if urllib.parse.urlsplit(link)[:2] == urllib.parse.urlsplit(url)[:2]]


def crawl(queue, seen, fetch):
    """Fetches pages until all processes together have fetched all.    Returns how many it fetched."""
    fetched = 0
    while int(queue.get("pages open") or 1) > 0:  # there is no such key before the first page is queued
        popped = queue.blpop(["frontier"], timeout=1)
        if popped is None:
            continue
        url = popped[1].decode()
        fresh = []
        try:
            links = links_of(url, fetch(url))
            fetched += 1
            # One batch for all links of a page: each URL is fresh once, for one process.
            fresh = [link for link, is_new in zip(links, seen.fresh(links)) if is_new]
        finally:  # in any case, the page is no longer open, or the other processes would wait for it forever
            with queue.pipeline() as step:
                if fresh:
                    step.rpush("frontier", *fresh)
                step.incrby("pages open", len(fresh) - 1)
                step.execute()
    return fetched


def begin(queue, seen, url):
    """Queues the first page, unless a process has done so before."""
    if seen.add(canonical(url)):
        with queue.pipeline() as step:
            step.rpush("frontier", canonical(url)).incr("pages open").execute()


def fetch(url):
    try:
        with urllib.request.urlopen(url, timeout=10) as page:
            is_html = page.headers.get_content_type() == "text/html"
            return page.read().decode("utf-8", "replace") if is_html else ""
    except (OSError, http.client.HTTPException) as error:
        print(f"{url}: {error}", file=sys.stderr)
        return ""


def connect(url):
    """A client of the server that a URL of everseen names, which may be unix:/PATH."""
    return redis.Redis.from_url(url.replace("unix:/", "unix:///", 1))


if __name__ == "__main__":
    store, first = sys.argv[1:]
    with everseen.open_or_create(store, "crawled", capacity=10_000_000, error_rate=1e-9) as seen:
        queue = connect(store)
        begin(queue, seen, first)
        print(crawl(queue, seen, fetch), "pages fetched by this process")
