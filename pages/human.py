"""Tasks that wait for a person: what each asks, and a form to answer it."""

from studio import session
from studio.components import frame, human_tasks, problem

visit = frame.page(session.enter())
with problem.told():
    human_tasks.show(visit)
