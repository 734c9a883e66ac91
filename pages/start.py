"""Start a run: which definition, with what input, and what it lacks before it begins."""

from studio import samples, session
from studio.components import frame, problem, start_form

visit = frame.page(session.enter())
with problem.told():
    start_form.show(visit, samples.inputs_for)
