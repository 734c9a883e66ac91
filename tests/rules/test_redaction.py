"""Secrets and masked fields are not shown."""

import base64

from engine.model.record import decode, encode
from engine.rules.redaction import MASK, Scrubber, masked


def test_a_secret_value_is_masked_wherever_it_stands() -> None:
    data = encode({"a": ["token hunter2!x", {"hunter2!x": 1}], "b": "hunter"})
    assert decode(Scrubber(["hunter2!x"]).scrub(data)) == {
        "a": [f"token {MASK}", {MASK: 1}],
        "b": "hunter",
    }


def test_its_base64_and_url_forms_are_masked_too() -> None:
    data = encode({"basic": "cGFzcyB3b3JkIQ==", "url": "https://x/?k=pass%20word%21"})
    found = decode(Scrubber(["pass word!"]).scrub(data))
    assert "cGFzcyB3b3JkIQ" not in found["basic"]
    assert "pass%20word%21" not in found["url"]


def test_data_without_a_secret_stays_the_very_same_bytes() -> None:
    data = encode({"a": 1})
    assert Scrubber(["hunter2"]).scrub(data) is data


def test_a_very_short_value_is_not_looked_for() -> None:
    assert Scrubber(["abc"]).text("abcabc") == "abcabc"


def test_masked_fields_are_masked_at_any_depth() -> None:
    data = encode({"card": "4111", "who": {"card": {"n": 1}, "name": "Ada"}})
    assert masked(data, ["card"]) == {"card": MASK, "who": {"card": MASK, "name": "Ada"}}


def test_base64_is_known_wherever_a_value_begins_in_it() -> None:
    scrubber = Scrubber(["pass word!"])
    for before in ("", "u", "us", "user:"):
        coded = base64.b64encode(f"{before}pass word!{before}".encode()).decode()
        assert MASK in scrubber.text(f"Basic {coded}")
