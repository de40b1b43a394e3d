package io.github.fastlbp;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** JDKs of this machine, for tests of what later versions do. */
final class LaterJvm {
    private LaterJvm() {}

    /** The directory of one with at least this version, or null. */
    static Path find(int version) throws IOException {
        Path all = Paths.get("/usr/lib/jvm");
        if (!Files.isDirectory(all)) return null;
        List<Path> found;
        try (Stream<Path> stream = Files.list(all)) {
            found = stream.sorted().collect(Collectors.toList());
        }
        for (Path jdk : found) {
            Path release = jdk.resolve("release");
            if (!Files.isRegularFile(release) || !Files.isExecutable(jdk.resolve("bin/java"))) continue;
            for (String line : Data.lines(release)) {
                if (!line.startsWith("JAVA_VERSION=\"")) continue;
                String major = line.replaceAll("JAVA_VERSION=\"([0-9]+).*", "$1");
                if (Integer.parseInt(major) >= version) return jdk;
            }
        }
        return null;
    }
}
