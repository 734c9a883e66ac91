import com.netflix.conductor.client.worker.Worker;
import com.netflix.conductor.common.metadata.tasks.Task;
import com.netflix.conductor.common.metadata.tasks.TaskResult;
import java.util.List;
import java.util.function.Function;

/** The shop's workers. They run in the process that plays. */
class Workers {
    static final int LONG_SECONDS = 8; // more than the response timeout of what is leased
    static final int TOO_LONG_SECONDS = 120;

    static List<Worker> of(Shop shop) {
        return List.of(
                worker("layout", false, task -> completed(task, "pages", 4 * number(task, "copies"))
                        .log("laying out " + task.getInputData().get("title"))),
                worker("print", false, task -> print(shop, task)),
                worker("deliver", false, Workers::deliver),
                worker("shaky", false, Workers::shaky),
                worker("leased", true, task -> afterwards(task, LONG_SECONDS)),
                worker("silent", false, task -> afterwards(task, TOO_LONG_SECONDS)));
    }

    private static TaskResult print(Shop shop, Task task) {
        if (shop.repaired) return completed(task, "printed", number(task, "pages"));
        TaskResult result = new TaskResult(task);
        result.setStatus(TaskResult.Status.FAILED_WITH_TERMINAL_ERROR);
        result.setReasonForIncompletion("the printer is out of order");
        return result;
    }

    private static TaskResult deliver(Task task) {
        if (task.getPollCount() >= 2) return completed(task, "delivered", number(task, "printed"));
        TaskResult result = new TaskResult(task).addOutputData("on_the_road", true);
        result.setStatus(TaskResult.Status.IN_PROGRESS);
        result.setCallbackAfterSeconds(1);
        return result;
    }

    private static TaskResult shaky(Task task) {
        if (task.getRetryCount() == 0) throw new IllegalStateException("the first attempt never works");
        return completed(task, "attempt", task.getRetryCount());
    }

    private static TaskResult afterwards(Task task, int seconds) {
        try {
            Thread.sleep(1000L * seconds);
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
        return completed(task, "took", seconds);
    }

    private static TaskResult completed(Task task, String key, Object value) {
        TaskResult result = new TaskResult(task).addOutputData(key, value);
        result.setStatus(TaskResult.Status.COMPLETED);
        return result;
    }

    private static int number(Task task, String key) {
        return ((Number) task.getInputData().get(key)).intValue();
    }

    private static Worker worker(String kind, boolean leased, Function<Task, TaskResult> work) {
        return new Worker() {
            @Override public String getTaskDefName() { return kind; }
            @Override public TaskResult execute(Task task) { return work.apply(task); }
            @Override public boolean leaseExtendEnabled() { return leased; }
            @Override public int getPollingInterval() { return 100; }
        };
    }
}
