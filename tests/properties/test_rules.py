"""Random definitions and random orders of events: the rules against the same answer from scratch."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.model.definitions import WorkflowDef
from tests.properties.definitions import definitions
from tests.properties.play import Play

EXAMPLES = 80
QUICK = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@QUICK
@given(definition=definitions(), data=st.data())
def test_after_every_event_an_execution_is_what_its_definition_says(
    definition: WorkflowDef, data: st.DataObject
) -> None:
    play = Play(definition, lambda below: data.draw(st.integers(0, below - 1)))
    for _ in range(data.draw(st.integers(0, 25))):
        play.step()
    play.finish()
