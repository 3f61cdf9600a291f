"""A parser that reads a page as a browser would."""

from __future__ import annotations

from html.parser import HTMLParser

from clearbands.rows.display import GAP

VOID = {"meta", "br", "hr", "img", "input", "link", "col"}


class Page(HTMLParser):
    """The tags, attributes and text of a page, whose tags must close."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.attributes, self.words, self._open = [], [], [], []
        self.feed(html)
        assert self._open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        if self._open[-1:] not in (["script"], ["style"]):
            self.words.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.words).replace(GAP, " ").split())
