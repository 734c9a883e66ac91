"""Task definitions: how often a task is tried again, how long it may take, how many at once."""

from studio import session
from studio.components import frame, problem, task_def_form

visit = frame.page(session.enter())
with problem.told():
    task_def_form.show(visit)
