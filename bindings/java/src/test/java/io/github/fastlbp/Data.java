package io.github.fastlbp;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.function.Executable;

/** What the tests share: small graphs, files, child processes. */
public final class Data {
    /** With -Xcheck:jni, which makes calls slow, and has the JVM copy every array that it lends. */
    public static final boolean CHECKED = Boolean.getBoolean("fastlbp.test.checked");

    private Data() {}

    /** The directory of the module, where Maven and scripts/test-java run the tests. */
    static Path module() {
        return Paths.get(System.getProperty("basedir", "")).toAbsolutePath();
    }

    static Path root() {
        return module().resolve("../..").normalize();
    }

    /** Ends a test that cannot run here; scripts/test lists such lines, and knows them by their names. */
    public static void skip(String reason) {
        String test = "";
        for (StackTraceElement frame : new Throwable().getStackTrace()) {
            String type = frame.getClassName();
            if (type.startsWith("io.github.fastlbp.") && type.endsWith("Test")) {
                test = type.substring(type.lastIndexOf('.') + 1) + "." + frame.getMethodName();
            }
        }
        System.out.println("skipped: java: " + test + ": " + reason);
        Assumptions.abort(reason);
    }

    /** A part of tests/data. */
    public static Path data(String name) {
        return root().resolve("tests/data").resolve(name);
    }

    /** A directory of ../shared, beside the tree, which has more and larger data. */
    public static Path shared(String name) {
        Path path = root().resolve("../shared").resolve(name).normalize();
        if (!Files.isDirectory(path)) skip(path + " does not exist");
        return path;
    }

    /** Lines of a file that may be compressed, without comments. */
    public static List<String> lines(Path path) throws IOException {
        InputStream file = Files.newInputStream(path);
        InputStream plain = path.toString().endsWith(".gz") ? new GZIPInputStream(file, 1 << 16) : file;
        List<String> lines = new ArrayList<>();
        try (BufferedReader reader = new BufferedReader(new InputStreamReader(plain, StandardCharsets.US_ASCII))) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                if (!line.startsWith("#")) lines.add(line);
            }
        }
        return lines;
    }

    /** The graph of README.md: labels 1 and 2 are statements, 11, 21 and 22 values. */
    static FactorGraph faultGraph() {
        try (FactorGraph.Builder builder = FactorGraph.builder()) {
            return builder.addAnd(11, new long[] {1}, 1, 0.01)
                    .addAnd(21, new long[] {1}, 1, 0.01)
                    .addAnd(22, new long[] {2, 21}, 1, 0.01)
                    .build();
        }
    }

    /** A grid of binary variables with tables on its edges: loops, so that runs go on for a while. */
    static FactorGraph grid(int side) {
        try (FactorGraph.Builder builder = FactorGraph.builder()) {
            for (int y = 0; y < side; y++) {
                for (int x = 0; x < side; x++) {
                    long here = (long) y * side + x;
                    builder.addPrior(here, 0.3 + 0.4 * ((here * 7919) % 101) / 101);
                    double[] table = {2, 1, 1, 1.5};
                    if (x > 0) builder.addTable(new long[] {here - 1, here}, table);
                    if (y > 0) builder.addTable(new long[] {here - side, here}, table);
                }
            }
            return builder.build();
        }
    }

    static double[] probabilities(BeliefPropagation bp, int count) {
        double[] p = new double[count];
        bp.probabilities(p);
        return p;
    }

    static FastLbpException fails(Status status, Executable call) {
        FastLbpException exception = assertThrows(FastLbpException.class, call);
        assertEquals(status, exception.status(), exception.getMessage());
        assertTrue(!exception.getMessage().isEmpty());
        return exception;
    }

    static void assertContains(String part, String text) {
        assertTrue(text.contains(part), () -> "'" + part + "' in: " + text);
    }

    /** What a program printed, and its exit code as the last line. */
    public static String run(List<String> command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        return output(process);
    }

    static String output(Process process) throws IOException, InterruptedException {
        process.getOutputStream().close();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        byte[] block = new byte[8192];
        InputStream output = process.getInputStream();
        for (int length = output.read(block); length >= 0; length = output.read(block)) bytes.write(block, 0, length);
        return new String(bytes.toByteArray(), StandardCharsets.UTF_8) + "exit code " + process.waitFor();
    }

    /** The command line of another JVM with the classes of this one. */
    static List<String> java(String... arguments) {
        List<String> command = new ArrayList<>();
        command.add(Paths.get(System.getProperty("java.home"), "bin", "java").toString());
        command.add("-Xshare:auto");
        command.add("-XX:TieredStopAtLevel=1");
        command.add("-cp");
        command.add(module().resolve("target/classes") + File.pathSeparator + module().resolve("target/test-classes"));
        for (String argument : arguments) command.add(argument);
        return command;
    }
}
