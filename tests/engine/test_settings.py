"""Where settings come from, and what is refused."""

import pytest

from engine.model.errors import InvalidInput
from engine.settings import Settings, settings_from


def test_without_anything_the_defaults_hold() -> None:
    assert settings_from({}) == Settings()


@pytest.mark.parametrize("name", ["CONDUCTOR_SECRET_KEY", "CONDUCTOR_ENV_PLACE"])
def test_a_variable_that_tasks_may_be_given_must_be_text(name: str) -> None:
    with pytest.raises(InvalidInput, match=f"{name}' is no UTF-8") as told:
        settings_from({name: "hush\udcff"})
    assert "hush" not in told.value.message


def test_the_environment_sets_and_an_argument_wins() -> None:
    environment = {
        "REPRISE_PORT": "9000",
        "REPRISE_HOST": "0.0.0.0",
        "REPRISE_PYTHON_SCRIPTS": "true",
        "REPRISE_GRACE_SECONDS": "2.5",
        "REPRISE_RETENTION_DAYS": "30",
        "REPRISE_ALLOWED_HOSTS": "*.corp.test, 10.0.0.0/8",
        "REPRISE_LIMIT_LOOP_ITERATIONS": "7",
    }
    found = settings_from(environment, port=9001, host=None)
    assert (found.host, found.port, found.python_scripts) == ("0.0.0.0", 9001, True)
    assert (found.grace_seconds, found.retention_days) == (2.5, 30.0)
    assert found.allowed_hosts == ("*.corp.test", "10.0.0.0/8")
    assert found.limits.loop_iterations == 7


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("PORT", "many", "REPRISE_PORT is 'many': it must be a number"),
        ("PORT", "70000", "port is 70000: it must be from 0 to 65535"),
        ("HTTP_WORKER", "perhaps", "REPRISE_HTTP_WORKER is 'perhaps': it must be true or false"),
        ("DURABILITY", "SOME", "durability is 'SOME': use one of FULL, NORMAL, OFF"),
        ("REACH", "far", "reach is 'far': use one of loopback-and-public"),
        ("LIMIT_REASON", "x", "REPRISE_LIMIT_REASON is 'x': it must be a number"),
    ],
)
def test_a_value_that_cannot_be_is_refused_by_its_name(
    name: str, text: str, complaint: str
) -> None:
    with pytest.raises(InvalidInput, match=complaint):
        settings_from({f"REPRISE_{name}": text})


def test_an_engine_for_others_calls_public_addresses_alone() -> None:
    assert Settings().effective_reach == "loopback-and-public"
    assert Settings(host="0.0.0.0").effective_reach == "public-only"
    assert Settings(host="0.0.0.0", reach="unrestricted").effective_reach == "unrestricted"


def test_the_payload_folder_and_its_thresholds_come_from_the_environment() -> None:
    environment = {
        "REPRISE_PAYLOAD_FOLDER": "payloads",
        "REPRISE_TASK_PAYLOAD_THRESHOLD": "1000",
        "REPRISE_WORKFLOW_PAYLOAD_THRESHOLD": "2000",
        "REPRISE_PAYLOAD_GRACE_HOURS": "2.5",
    }
    found = settings_from(environment)
    assert found.payload_folder == "payloads"
    assert (found.task_payload_threshold, found.workflow_payload_threshold) == (1000, 2000)
    assert found.payload_grace_hours == 2.5
    with pytest.raises(InvalidInput, match="payload_grace_hours is 0"):
        settings_from({"REPRISE_PAYLOAD_GRACE_HOURS": "0"})
    with pytest.raises(InvalidInput, match="task_payload_threshold is -1"):
        settings_from({"REPRISE_TASK_PAYLOAD_THRESHOLD": "-1"})
