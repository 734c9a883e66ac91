"""Start a run: which definition, with what input, and what it lacks before it begins."""

from studio.components import frame, problem, start_form

visit = frame.page()
with problem.told():
    start_form.show(visit)
