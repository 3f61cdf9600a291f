"""Functions that read from the marks of a picture what it shows."""

from __future__ import annotations


def title(ax):
    return ax.get_title(loc="left")


def names(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def points(ax, label):
    (line,) = [line for line in ax.get_lines() if line.get_label() == label]
    return line.get_xydata()
