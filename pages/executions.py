"""Find executions: filters in the address, counts by status, a table, one action over many."""

from studio import session
from studio.components import bulk_bar, execution_list, filters, frame, problem

visit = frame.page(session.enter())
execution_list.head(visit)
with problem.told():
    bulk_bar.result(visit)
    counts = execution_list.counts(visit, filters.asked())
    wanted = filters.bar(execution_list.names(visit), counts)
    chosen = execution_list.show(visit, wanted)
    bulk_bar.bar(chosen, execution_list.PICKER)
    bulk_bar.dialog_if_asked(visit, chosen, execution_list.PICKER)
