package io.github.fastlbp;

import java.lang.ref.WeakReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;

/** Run in JVMs of its own by LongRunTest. */
public final class LongRunProgram {
    private LongRunProgram() {}

    /** With the name of a case, and how often. */
    public static void main(String[] arguments) throws Exception {
        int count = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 0;
        switch (arguments[0]) {
            case "sessions":
                sessions(count);
                break;
            case "limit":
                limit();
                break;
            case "loaders":
                loaders(count);
                break;
            default:
                estimate();
        }
    }

    /** A line of /proc/self/status: kibibytes, or the number of threads. */
    private static long status(String key) throws Exception {
        for (String line : Data.lines(Paths.get("/proc/self/status"))) {
            if (line.startsWith(key + ":")) return Long.parseLong(line.replaceAll("[^0-9]", ""));
        }
        throw new AssertionError("no " + key + " in /proc/self/status");
    }

    private static void check(boolean holds, String text) {
        if (!holds) throw new AssertionError(text);
    }

    /** Sessions that have run, which nobody closes; half of them have a graph of their own. */
    private static void sessions(int count) throws Exception {
        FactorGraph shared = Data.grid(40);
        new BeliefPropagation(shared).runIterations(1);
        long threads = status("Threads");
        long before = status("VmRSS");
        long most = 0;
        for (int i = 0; i < count; i++) {
            FactorGraph graph = i % 2 == 0 ? shared : Data.grid(40);
            new BeliefPropagation(graph).runIterations(1);
            if (i % 100 == 99) most = Math.max(most, status("VmRSS") - before);
        }
        int cores = Runtime.getRuntime().availableProcessors();
        System.out.println(count + " sessions: " + most + " KiB more than " + before + " KiB");
        System.out.println(status("Threads") + " threads, " + threads + " of them before, " + cores + " cores");
        check(most < 128 << 10, "memory grows with sessions that nobody reaches");
        check(status("Threads") <= threads + cores + 4, "threads grow with sessions");
    }

    private static void limit() {
        List<BeliefPropagation> open = new ArrayList<>();
        FactorGraph graph = Data.grid(40);
        try {
            while (open.size() < 1000) open.add(new BeliefPropagation(graph));
            System.out.println("no limit");
        } catch (FastLbpException exception) {
            System.out.println(exception);
        }
        for (BeliefPropagation session : open) session.close();
        new BeliefPropagation(graph).runIterations(1);
        System.out.println("after closing: fine");
    }

    /** Uses the library with a log listener that nobody takes away; called by each class loader. */
    public static void use() {
        FastLbp.setLogListener((level, text) -> {});
        new BeliefPropagation(Data.faultGraph()).setProperty("verbose", "1").run();
    }

    private static WeakReference<ClassLoader> load(URL[] path) throws Exception {
        ClassLoader loader = new URLClassLoader(path, ClassLoader.getSystemClassLoader().getParent());
        Class.forName(LongRunProgram.class.getName(), true, loader).getMethod("use").invoke(null);
        return new WeakReference<>(loader);
    }

    private static void loaders(int count) throws Exception {
        URL[] path = {
            Data.module().resolve("target/classes").toUri().toURL(),
            Data.module().resolve("target/test-classes").toUri().toURL()
        };
        List<WeakReference<ClassLoader>> loaders = new ArrayList<>();
        long before = 0;
        for (int i = 0; i < count; i++) {
            loaders.add(load(path));
            if (i == count / 10) before = status("VmRSS");
            if (i % 50 == 49) System.gc();
        }
        int alive = count;
        for (int tries = 0; alive > 0 && tries < 20; tries++) {
            System.gc();
            Thread.sleep(50);
            alive = (int) loaders.stream().filter(loader -> loader.get() != null).count();
        }
        long more = status("VmRSS") - before;
        System.out.println(more + " KiB more than " + before + " KiB");
        // What the library has written stays, what it has read goes with its class loader.
        check(more < (16 << 10) + 512L * (count - count / 10), "libraries take memory without their class loaders");
        System.out.println(alive == 0 ? "all " + count + " collected" : alive + " of " + count + " alive");
    }

    /** What sessions take, and what is said of it. */
    private static void estimate() throws Exception {
        for (String schedule : new String[] {"SEQFIX", "PARALL", "SEQMAX"}) {
            for (int side : new int[] {10, 200}) {
                FactorGraph graph = Data.grid(side);
                int count = 400_000 / (side * side);
                List<BeliefPropagation> open = new ArrayList<>();
                open.add(run(graph, schedule));
                long before = status("VmRSS");
                for (int i = 0; i < count; i++) open.add(run(graph, schedule));
                long each = (status("VmRSS") - before) * 1024 / count;
                long estimate = graph.estimateBytes(1) - graph.estimateBytes(0);
                System.out.println(schedule + " " + graph.edgeCount() + " edges: " + each + " bytes, said " + estimate);
                check(each <= estimate * 1.1 + 1024, "more than estimated");
                for (BeliefPropagation session : open) session.close();
                graph.close();
            }
        }
    }

    private static BeliefPropagation run(FactorGraph graph, String schedule) {
        BeliefPropagation bp = new BeliefPropagation(graph).setThreads(1).setSchedule(Schedule.of(schedule, 0));
        bp.runIterations(1);
        return bp;
    }
}
