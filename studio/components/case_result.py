"""What came of one case: each expectation with its sign, and expected beside actual where they part."""

import json
from collections.abc import Sequence
from typing import Any

from studio.components import coded, markup
from studio.views import wording
from studio.views.mock_run import Check, Report

_LONGEST = 12_000


def show(name: str, report: Report, checks: Sequence[Check]) -> None:
    bad = [check for check in checks if not check.met]
    if not checks:
        end = markup.status(report.status)
    elif bad:
        end = markup.status(
            "FAILED", f"{len(bad)} of {len(checks)} differ{'s' if len(bad) == 1 else ''}"
        )
    else:
        end = markup.status("COMPLETED", "as expected")
    lines = [_line(check) for check in checks]
    if not lines:
        lines = [markup.tag("li", markup.dim("Nothing is expected of this case yet."))]
    if report.stopped and all(check.why != report.stopped for check in checks):
        lines.insert(
            0, markup.tag("li", markup.tag("div", coded.html(report.stopped), css="rp-grow"))
        )
    parts = [markup.items(lines)]
    apart = next((check for check in bad if check.expected is not None), None)
    if apart is not None:
        parts.append(markup.tag("div", _difference(apart), css="rp-body rp-panel"))
    took = markup.dim(f"Virtual time {wording.took(report.took_ms)}")
    parts.append(markup.tag("div", took, css="rp-line"))
    markup.show(markup.box(name, markup.joined(*parts), end=end))


def _line(check: Check) -> markup.Html:
    words = [markup.tag("b", coded.html(check.text))]
    if check.why:
        words.append(markup.span(coded.html(check.why)))
    sign = markup.status("COMPLETED" if check.met else "FAILED", "")
    return markup.tag("li", sign, markup.tag("div", *words, css="rp-grow rp-two"))


def _difference(check: Check) -> markup.Html:
    expected, actual = _text(check.expected), _text(check.actual)
    left, right = set(expected.splitlines()), set(actual.splitlines())
    return markup.joined(
        markup.tag("h3", "Expected"),
        _pre(expected, left - right, "rp-ok"),
        markup.tag("h3", "Actual"),
        _pre(actual, right - left, ""),
    )


def _pre(text: str, marked: set[str], css: str) -> markup.Html:
    lines = [
        markup.joined(markup.tag("mark", line, css=css) if line in marked else line, "\n")
        for line in text.splitlines()
    ]
    return markup.tag("pre", *lines, css="rp-pre")


def _text(value: Any) -> str:
    if value is None:
        return "nothing"
    text = json.dumps(value, indent=2, ensure_ascii=False, sort_keys=True)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "\n…"
