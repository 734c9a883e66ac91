from typing import Any

import orjson
import pytest

from engine.expressions.secrets import fill_secrets, mentions_secrets, secret_names
from tests.vectors import by_id, exact, rows

SECRETS = {"TOKEN": "abc", "DB": '{"user":"u","port":5}'}


@pytest.mark.parametrize("row", rows("secrets"), ids=by_id)
def test_a_secret_is_put_in_at_the_hand_over(row: dict[str, Any]) -> None:
    assert exact(fill_secrets(row["template"], SECRETS.get)) == exact(row["value"])


def test_secrets_are_found_at_any_depth() -> None:
    value = {"a": [{"b": "${workflow.secrets.TOKEN}"}], "${workflow.secrets.TOKEN}": 1}
    assert fill_secrets(value, SECRETS.get) == {"a": [{"b": "abc"}], "${workflow.secrets.TOKEN}": 1}


def test_a_value_without_secrets_is_given_back_itself() -> None:
    value = {"a": [1, {"b": "${workflow.input.x}"}]}
    assert fill_secrets(value, SECRETS.get) is value


def test_the_stored_value_is_never_changed() -> None:
    value = {"a": ["${workflow.secrets.TOKEN}"]}
    fill_secrets(value, SECRETS.get)
    assert value == {"a": ["${workflow.secrets.TOKEN}"]}


def test_a_secret_that_looks_like_a_reference_is_not_followed() -> None:
    assert fill_secrets(
        "<${workflow.secrets.A}>", {"A": "${workflow.secrets.B}", "B": "no"}.get
    ) == ("<${workflow.secrets.B}>")


def test_the_names_asked_for_can_be_listed() -> None:
    value = {"a": "x ${workflow.secrets.DB.user} ${workflow.secrets.TOKEN}", "b": [1, None]}
    assert secret_names(value) == {"DB", "TOKEN"}


def test_an_encoded_payload_tells_whether_it_needs_secrets() -> None:
    assert mentions_secrets(orjson.dumps({"a": "x ${workflow.secrets.TOKEN}"}))
    assert not mentions_secrets(orjson.dumps({"a": "${workflow.input.TOKEN}"}))
