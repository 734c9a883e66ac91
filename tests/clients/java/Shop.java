import com.netflix.conductor.client.exception.ConductorClientException;
import com.netflix.conductor.client.http.ConductorClient;
import com.netflix.conductor.client.http.MetadataClient;
import com.netflix.conductor.client.http.TaskClient;
import com.netflix.conductor.client.http.WorkflowClient;
import com.netflix.conductor.common.metadata.tasks.Task;
import com.netflix.conductor.common.metadata.tasks.TaskDef;
import com.netflix.conductor.common.metadata.tasks.TaskResult;
import com.netflix.conductor.common.metadata.workflow.StartWorkflowRequest;
import com.netflix.conductor.common.metadata.workflow.WorkflowDef;
import com.netflix.conductor.common.metadata.workflow.WorkflowTask;
import com.netflix.conductor.common.run.Workflow;
import com.netflix.conductor.common.run.Workflow.WorkflowStatus;
import io.orkes.conductor.client.ApiClient;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;

/** A print shop on Conductor's Java client: its clients, its definitions, and waiting for what comes. */
class Shop {
    static final String NOBODY = "00000000-0000-0000-0000-000000000000";
    static final int PATIENCE_SECONDS = 45;
    static final String AUTHOR = "ann@example.com";

    final WorkflowClient workflows;
    final TaskClient tasks;
    final MetadataClient metadata;
    final Map<String, String> begun = new TreeMap<>();
    volatile boolean repaired;

    Shop(String url) {
        String key = System.getenv("CONDUCTOR_AUTH_KEY");
        String secret = System.getenv("CONDUCTOR_AUTH_SECRET");
        ConductorClient client = key == null
                ? ConductorClient.builder().basePath(url).readTimeout(30_000).build()
                : new ApiClient(url, key, secret);
        workflows = new WorkflowClient(client);
        tasks = new TaskClient(client);
        metadata = new MetadataClient(client);
    }

    /** Register what several stories use, and begin what is slow. */
    void open() {
        metadata.registerTaskDefs(List.of(
                definition("shaky", 2, 600), definition("leased", 0, 5), definition("silent", 0, 2)));
        metadata.updateWorkflowDefs(
                List.of(leaflet(), oneTask("shaky"), oneTask("leased"), oneTask("silent")));
        for (String kind : List.of("silent", "leased")) begun.put(kind, start(kind, Map.of()));
    }

    private static TaskDef definition(String name, int retries, int responseTimeoutSeconds) {
        TaskDef definition = new TaskDef(name);
        definition.setOwnerEmail(AUTHOR);
        definition.setRetryCount(retries);
        definition.setRetryDelaySeconds(1);
        definition.setResponseTimeoutSeconds(responseTimeoutSeconds);
        return definition;
    }

    /** Layout, print, an approval, delivery. */
    WorkflowDef leaflet() {
        WorkflowDef flow = flow("leaflet",
                step("layout", "layout", "SIMPLE",
                        Map.of("title", "${workflow.input.title}", "copies", "${workflow.input.copies}")),
                step("print", "print", "SIMPLE", Map.of("pages", "${layout.output.pages}")),
                step("approval", "approval", "WAIT", Map.of()),
                step("deliver", "deliver", "SIMPLE", Map.of("printed", "${print.output.printed}")));
        flow.setOutputParameters(Map.of("delivered", "${deliver.output.delivered}"));
        return flow;
    }

    /** A definition of a single task, which has the task's own name. */
    WorkflowDef oneTask(String kind) {
        return flow(kind, step("only", kind, "SIMPLE", Map.of()));
    }

    private static WorkflowDef flow(String name, WorkflowTask... steps) {
        WorkflowDef flow = new WorkflowDef();
        flow.setName(name);
        flow.setVersion(1);
        flow.setOwnerEmail(AUTHOR);
        flow.setTasks(Arrays.asList(steps));
        return flow;
    }

    private static WorkflowTask step(String ref, String name, String type, Map<String, Object> input) {
        WorkflowTask step = new WorkflowTask();
        step.setTaskReferenceName(ref);
        step.setName(name);
        step.setType(type);
        step.setInputParameters(input);
        return step;
    }

    String start(String name, Map<String, Object> input) {
        return workflows.startWorkflow(
                new StartWorkflowRequest().withName(name).withVersion(1).withInput(input));
    }

    Workflow execution(String id) {
        return workflows.getWorkflow(id, true);
    }

    WorkflowStatus status(String id) {
        return workflows.getWorkflow(id, false).getStatus();
    }

    /** Look again until there is something. */
    <T> T until(String what, Callable<T> look) throws Exception {
        long end = System.currentTimeMillis() + 1000L * PATIENCE_SECONDS;
        while (System.currentTimeMillis() < end) {
            T found = look.call();
            if (found != null) return found;
            Thread.sleep(100);
        }
        throw new AssertionError("not within " + PATIENCE_SECONDS + " s: " + what);
    }

    Workflow untilStatus(String id, WorkflowStatus... wanted) throws Exception {
        return until(id + " is one of " + List.of(wanted), () -> {
            Workflow found = execution(id);
            return List.of(wanted).contains(found.getStatus()) ? found : null;
        });
    }

    Workflow untilApproval(String id) throws Exception {
        return until(id + " waits for its approval", () -> {
            Workflow found = execution(id);
            Task approval = last(found, "approval");
            return approval != null && approval.getStatus() == Task.Status.IN_PROGRESS ? found : null;
        });
    }

    Workflow approve(String id) throws Exception {
        untilApproval(id);
        tasks.updateTask(id, "approval", TaskResult.Status.COMPLETED, Map.of("by", "ann"));
        return untilStatus(id, WorkflowStatus.COMPLETED);
    }

    /** A leaflet that has been delivered. */
    Workflow delivered() throws Exception {
        repaired = true;
        Workflow done = approve(start("leaflet", Map.of("title", "A", "copies", 2)));
        equal(8, done.getOutput().get("delivered"));
        return done;
    }

    /** A leaflet for which the printer was out of order. */
    Workflow broken() throws Exception {
        repaired = false;
        return untilStatus(start("leaflet", Map.of("title", "A", "copies", 2)), WorkflowStatus.FAILED);
    }

    /** The newest attempt of a task. */
    static Task last(Workflow execution, String ref) {
        Task newest = null;
        for (Task task : execution.getTasks()) {
            if (task.getReferenceTaskName().equals(ref)) newest = task;
        }
        return newest;
    }

    /** How each attempt of an execution's tasks has ended. */
    static List<Task.Status> statuses(Workflow execution) {
        return execution.getTasks().stream().map(Task::getStatus).toList();
    }

    static void equal(Object wanted, Object seen) {
        if (!wanted.equals(seen)) throw new AssertionError("wanted " + wanted + ", saw " + seen);
    }

    /** A refusal must have this status and say why. */
    static void refused(int status, Runnable call) {
        try {
            call.run();
        } catch (ConductorClientException refusal) {
            equal(status, refusal.getStatus());
            equal(false, refusal.getMessage() == null || refusal.getMessage().isBlank());
            return;
        }
        throw new AssertionError("no refusal, where " + status + " was due");
    }
}
