"""The parts that are only read: everything foreign is escaped, everything has its shape and word."""

from studio.components import json_view, markup
from studio.graph import marks


def test_foreign_text_is_escaped_wherever_it_stands() -> None:
    bad = "<script>alert(1)</script>\"'"
    parts = (
        markup.tag("p", bad),
        markup.code(bad, title=bad),
        markup.link(bad, f"javascript:{bad}"),
        markup.status(bad),
        markup.table((markup.Column(bad),), [markup.Row([bad], id=bad)], choosable=True),
        markup.box(bad, bad, note=bad, end=bad),
        markup.facts([markup.Fact(bad, bad)]),
        markup.item(bad, bad, bad, bad),
        markup.meta([(bad, bad)]),
        markup.pairs([(bad, bad)]),
        markup.ticks([bad]),
    )
    for part in parts:
        assert "<script>" not in part
        assert 'alert(1)&lt;/script&gt;"' not in part


def test_what_is_markup_already_is_not_escaped_again() -> None:
    assert markup.tag("p", markup.code("a<b")) == "<p><code>a&lt;b</code></p>"


def test_every_status_has_its_own_shape_colour_and_word_in_the_styles() -> None:
    styles = markup.styles()
    for raw, mark in marks.STATUSES.items():
        shown = markup.status(raw)
        assert mark.word in shown
        assert f".rp-m-{mark.shape} " in styles and f"rp-m-{mark.shape}" in shown
        assert f".rp-c-{mark.tone} " in styles and f"rp-c-{mark.tone}" in shown


def test_an_unknown_status_keeps_its_raw_name() -> None:
    assert "LEVITATING" in markup.status("LEVITATING")


def test_an_address_leaves_out_what_is_empty_and_repeats_what_is_many() -> None:
    assert markup.address("executions", wf="a b", status=["X", "Y"], q="") == (
        "executions?wf=a+b&status=X&status=Y"
    )
    assert markup.address("") == "."


def test_an_id_is_short_and_whole_on_hover() -> None:
    shown = markup.identifier("9b1f3c52-77aa-4c0e-8d1b-5e2f60c1a4d7", "execution?id=1")
    assert 'title="9b1f3c52-77aa-4c0e-8d1b-5e2f60c1a4d7"' in shown
    assert "9b1f3…1a4d7" in shown


def test_secrets_are_covered_at_any_depth() -> None:
    value = {"apiKey": "k", "deep": [{"db_password": "p", "name": "n"}], "token": "", "tokens": 3}
    assert json_view.masked(value) == {
        "apiKey": "••••",
        "deep": [{"db_password": "••••", "name": "n"}],
        "token": "",
        "tokens": 3,
    }
