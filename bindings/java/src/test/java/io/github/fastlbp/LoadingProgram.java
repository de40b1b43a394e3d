package io.github.fastlbp;

import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.nio.file.Paths;

/** Run in JVMs of its own by NativeLibraryTest. */
public final class LoadingProgram {
    private LoadingProgram() {}

    /** With an argument, loads the classes by two class loaders; prints P(x1) of the example. */
    public static void main(String[] arguments) throws Exception {
        if (arguments.length == 0) {
            System.out.println("P " + probability());
            return;
        }
        Path classes = Data.module().resolve("target/classes");
        Path tests = Data.module().resolve("target/test-classes");
        URL[] path = {classes.toUri().toURL(), tests.toUri().toURL()};
        Class<?> before = null;
        for (int i = 0; i < 2; i++) {
            // Not closed before the end: both are in use at the same time.
            ClassLoader loader = new URLClassLoader(path, ClassLoader.getSystemClassLoader().getParent());
            Class<?> program = Class.forName(LoadingProgram.class.getName(), true, loader);
            if (program == before || program == LoadingProgram.class) throw new AssertionError("the same class");
            before = program;
            System.out.println("loader " + i + " P " + program.getMethod("probability").invoke(null));
        }
        System.out.println("own P " + probability());
    }

    /** Calls the library once; twice where it cannot be loaded, which must then be said again. */
    public static double probability() {
        try {
            FastLbp.version();
        } catch (UnsatisfiedLinkError error) {
            System.out.println("first: " + error.getMessage());
            try {
                FactorGraph.builder();
            } catch (UnsatisfiedLinkError again) {
                System.out.println("again: " + again.getMessage().equals(error.getMessage()));
            }
            throw error;
        }
        try (FactorGraph graph = Data.faultGraph(); BeliefPropagation bp = new BeliefPropagation(graph)) {
            bp.observe(4, 0).run();
            return bp.probability(0);
        }
    }

    /** The library of these classes. */
    static Path library() {
        return Paths.get(
                Data.module().toString(), "target", "classes", "natives", NativeLibrary.platform(),
                "libfastlbp_jni.so");
    }
}
