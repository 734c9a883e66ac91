import com.netflix.conductor.client.automator.TaskRunnerConfigurer;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Arrays;
import java.util.List;

/**
 * Play stories with the Java client against a server: java Play URL [STORY ...]
 *
 * <p>Says `told STORY`, or `broken STORY` and why, on a line of its own for each.
 */
public class Play {
    public static void main(String[] args) {
        List<String> names = Arrays.asList(args).subList(1, args.length);
        Shop shop = new Shop(args[0]);
        shop.open();
        new TaskRunnerConfigurer.Builder(shop.tasks, Workers.of(shop)).withThreadCount(2).build().init();
        new Stories(shop).all().forEach((name, story) -> {
            if (!names.isEmpty() && !names.contains(name)) return;
            try {
                story.play();
                System.out.println("told " + name);
            } catch (Exception | AssertionError reason) {
                System.out.println("broken " + name + " " + oneLine(reason));
            }
        });
        System.exit(0); // the workers' threads would keep the process
    }

    private static String oneLine(Throwable reason) {
        StringWriter text = new StringWriter();
        reason.printStackTrace(new PrintWriter(text));
        return text.toString().replace("\n", "\\n");
    }
}
