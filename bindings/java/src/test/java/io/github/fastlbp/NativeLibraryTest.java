package io.github.fastlbp;

import static io.github.fastlbp.Data.assertContains;
import static io.github.fastlbp.Data.java;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How the native library gets out of the jar, and what it is. Each case has a JVM of its own. */
class NativeLibraryTest {
    private static final String PROGRAM = LoadingProgram.class.getName();

    private static List<Path> entries(Path directory) throws IOException {
        try (Stream<Path> stream = Files.list(directory)) {
            return stream.collect(Collectors.toList());
        }
    }

    private static String load(String... arguments) throws Exception {
        return Data.run(java(arguments));
    }

    private static void assertWorks(String printed) {
        assertContains("P 0.", printed);
        assertTrue(printed.endsWith("exit code 0"), printed);
    }

    private static void assertRefused(String printed, String... parts) {
        assertTrue(printed.endsWith("exit code 1"), printed);
        assertContains("UnsatisfiedLinkError", printed);
        assertContains("again: true", printed);
        for (String part : parts) assertContains(part, printed);
        assertFalse(printed.contains("SIGSEGV"), printed);
    }

    @Test
    void manyJvmsAtOnceLeaveNothingBehind(@TempDir Path directory) throws Exception {
        List<Process> processes = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            processes.add(new ProcessBuilder(java("-Djava.io.tmpdir=" + directory, PROGRAM))
                    .redirectErrorStream(true).start());
        }
        for (Process process : processes) assertWorks(Data.output(process));
        assertEquals(new ArrayList<Path>(), entries(directory));
    }

    @Test
    void classLoadersHaveTheirOwnCopies(@TempDir Path directory) throws Exception {
        String printed = load("-Djava.io.tmpdir=" + directory, PROGRAM, "two");
        assertContains("loader 1 P 0.", printed);
        assertWorks(printed);
        // Also of a file that the user names.
        printed = load(
                "-Djava.io.tmpdir=" + directory, "-Dfastlbp.library.path=" + LoadingProgram.library(), PROGRAM, "two");
        assertContains("loader 1 P 0.", printed);
        assertWorks(printed);
        assertEquals(new ArrayList<Path>(), entries(directory));
    }

    @Test
    void thePropertyNamesAnotherLibrary(@TempDir Path directory) throws Exception {
        Path copy = directory.resolve("libfastlbp_jni.so");
        Files.copy(LoadingProgram.library(), copy);
        String nowhere = "-Djava.io.tmpdir=" + directory.resolve("none");
        assertWorks(load(nowhere, "-Dfastlbp.library.path=" + copy, PROGRAM));
        assertWorks(load(nowhere, "-Dfastlbp.library.path=" + directory, PROGRAM));
        assertRefused(
                load("-Dfastlbp.library.path=" + directory.resolve("none.so"), PROGRAM), "no such file", "none.so");
        Files.write(copy, "not a library".getBytes("US-ASCII"));
        assertRefused(load("-Dfastlbp.library.path=" + copy, PROGRAM), copy.toString());
    }

    @Test
    void aLibraryOfAnotherVersionIsRefused(@TempDir Path directory) throws Exception {
        Path source = directory.resolve("other.c");
        Path library = directory.resolve("libfastlbp_jni.so");
        String text = "#include <jni.h>\n"
                + "JNIEXPORT jbyteArray JNICALL Java_io_github_fastlbp_Native_version(JNIEnv *env, jclass type) {\n"
                + "    jbyteArray array = (*env)->NewByteArray(env, 5);\n"
                + "    (void)type;\n"
                + "    (*env)->SetByteArrayRegion(env, array, 0, 5, (const jbyte *)\"9.8.7\");\n"
                + "    return array;\n"
                + "}\n";
        Files.write(source, text.getBytes("US-ASCII"));
        String include = System.getProperty("java.home") + "/include";
        assertEquals("exit code 0", Data.run(Arrays.asList(
                "cc", "-shared", "-fPIC", "-I", include, "-I", include + "/linux",
                source.toString(), "-o", library.toString())));
        assertRefused(load("-Dfastlbp.library.path=" + library, PROGRAM), "9.8.7", Native.VERSION, library.toString());
    }

    @Test
    void aPlaceThatCannotBeWrittenIsNamed(@TempDir Path directory) throws Exception {
        assertRefused(
                load("-Djava.io.tmpdir=" + directory.resolve("none"), PROGRAM),
                directory.resolve("none").toString(), "-Dfastlbp.library.path=FILE", "-Djava.io.tmpdir");
    }

    @Test
    void thePlaceMayBeRelative(@TempDir Path directory) throws Exception {
        Process process = new ProcessBuilder(java("-Djava.io.tmpdir=.", "-Dbasedir=" + Data.module(), PROGRAM))
                .directory(directory.toFile()).redirectErrorStream(true).start();
        assertWorks(Data.output(process));
        assertEquals(new ArrayList<Path>(), entries(directory));
    }

    @Test
    void aFileSystemWithoutExecutionIsNamed(@TempDir Path directory) throws Exception {
        String mount = "mount -t tmpfs -o noexec tmpfs '" + directory + "'";
        if (!Data.run(Arrays.asList("unshare", "--mount", "--map-root-user", "sh", "-c", mount))
                .endsWith("exit code 0")) {
            Data.skip("no file system can be mounted with noexec");
        }
        List<String> java = java("-Djava.io.tmpdir=" + directory, PROGRAM);
        String command = mount + " && '" + String.join("' '", java) + "'; status=$?; ls -A '" + directory
                + "'; exit $status";
        String printed = Data.run(Arrays.asList("unshare", "--mount", "--map-root-user", "sh", "-c", command));
        assertRefused(printed, directory.toString(), "noexec", "-Dfastlbp.library.path=FILE");
        assertFalse(printed.contains("\nlibfastlbp") || printed.contains("\nfastlbp-"), printed);
    }

    /** The classes with other natives. */
    private static String loadFrom(Path classes, String... more) throws Exception {
        List<String> command = java();
        int classPath = command.indexOf("-cp") + 1;
        command.set(classPath, classes + File.pathSeparator + Data.module().resolve("target/test-classes"));
        command.addAll(Arrays.asList(more));
        command.add(PROGRAM);
        return Data.run(command);
    }

    @Test
    void damagedAndMissingLibrariesAreNamed(@TempDir Path directory) throws Exception {
        Path classes = Data.module().resolve("target/classes");
        try (Stream<Path> files = Files.walk(classes)) {
            for (Path file : files.collect(Collectors.toList())) {
                Path copy = directory.resolve(classes.relativize(file).toString());
                if (Files.isDirectory(file)) Files.createDirectories(copy);
                else Files.copy(file, copy);
            }
        }
        Path library = directory.resolve(classes.relativize(LoadingProgram.library()).toString());
        byte[] bytes = Files.readAllBytes(library);
        bytes[bytes.length / 2] ^= 1;
        Files.write(library, bytes);
        assertRefused(loadFrom(directory), "damaged", "CRC-32");
        assertRefused(
                loadFrom(directory, "-Dos.arch=vax"), "linux-vax", "scripts/build-java", "-Dfastlbp.library.path=FILE");
    }

    /** As most programs have it; the first use in a process is not to meet what a JVM takes long to prepare. */
    @Test
    void theFirstUseOfAJarIsShort(@TempDir Path directory) throws Exception {
        Path classes = Data.module().resolve("target/classes");
        Path jar = Files.createDirectory(directory.resolve("a b+c%41")).resolve("fastlbp.jar");
        try (Stream<Path> files = Files.walk(classes);
                ZipOutputStream out = new ZipOutputStream(Files.newOutputStream(jar))) {
            for (Path file : files.filter(Files::isRegularFile).collect(Collectors.toList())) {
                out.putNextEntry(new ZipEntry(classes.relativize(file).toString()));
                Files.copy(file, out);
                out.closeEntry();
            }
        }
        List<String> command = java("-Djava.io.tmpdir=" + directory, "-verbose:class", PROGRAM);
        int path = command.indexOf("-cp") + 1;
        command.set(path, jar + File.pathSeparator + Data.module().resolve("target/test-classes"));
        String printed = Data.run(command);
        assertWorks(printed);
        assertContains("fastlbp.jar", printed);
        for (String line : printed.split("\n")) {
            boolean isOurs = line.contains("io.github.fastlbp.") && !line.contains(".Data") && !line.contains("Program");
            assertFalse(isOurs && line.contains("Lambda"), line);
            // A class loader would open the jar once more, after the image of the JVM.
            assertFalse(line.contains("JarURLConnection"), line);
        }
    }

    @Test
    void aNewerCLibraryIsNamed() {
        String message = "/lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.34' not found (required by /tmp/x.so)";
        assertContains("glibc 2.17", NativeLibrary.reason(message));
        assertContains("noexec", NativeLibrary.reason("failed to map segment from shared object"));
    }

    private static String readelf(String option) throws Exception {
        return Data.run(Arrays.asList("readelf", option, "--wide", LoadingProgram.library().toString()));
    }

    @Test
    void theLibraryExportsOnlyWhatTheJvmCalls() throws Exception {
        int natives = 0;
        for (String line : readelf("--dyn-syms").split("\n")) {
            String[] fields = line.trim().split("\\s+");
            // Number, value, size, type, binding, visibility, section, name.
            if (fields.length < 8 || !fields[4].matches("GLOBAL|WEAK") || fields[6].equals("UND")) continue;
            assertTrue(fields[7].matches("JNI_On(Load|Unload)")
                    || fields[7].startsWith("Java_io_github_fastlbp_Native_"), line);
            natives++;
        }
        long declared = Arrays.stream(Native.class.getDeclaredMethods())
                .filter(method -> java.lang.reflect.Modifier.isNative(method.getModifiers())).count();
        assertEquals(declared + 2, natives, "each native method, JNI_OnLoad and JNI_OnUnload");
        String dynamic = readelf("--dynamic");
        assertContains("libfastlbp_jni.so", dynamic);
        assertContains("NODELETE", dynamic);
        for (String line : dynamic.split("\n")) {
            if (line.contains("(NEEDED)")) {
                String system = "libc|libm|libgcc_s|libpthread|libdl|librt|libutil|ld-linux.*";
                assertTrue(line.matches(".*\\[(" + system + ")\\.so.*\\]"), line);
            }
        }
    }

    /** From JDK 24 on, native libraries are only for modules that may have them; nothing else may be warned of. */
    @Test
    void laterJvmsLetTheModuleLoadIt() throws Exception {
        Path home = LaterJvm.find(24);
        if (home == null) Data.skip("there is no JDK of version 24 or later in /usr/lib/jvm");
        List<String> command = java(PROGRAM);
        command.set(0, home.resolve("bin/java").toString());
        command.add(1, "--illegal-native-access=deny");
        assertRefusedAccess(Data.run(command));
        command.add(2, "--enable-native-access=ALL-UNNAMED");
        String printed = Data.run(command);
        assertWorks(printed);
        assertFalse(printed.contains("WARNING"), printed);
    }

    private static void assertRefusedAccess(String printed) {
        assertTrue(printed.endsWith("exit code 1"), printed);
        assertContains("IllegalCallerException", printed);
    }

    @Test
    void theClassesAreForJava8() throws Exception {
        int classes = 0;
        try (Stream<Path> files = Files.walk(Data.module().resolve("target/classes"))) {
            for (Path file : files.collect(Collectors.toList())) {
                // Java 8 does not read the description of the module.
                if (!file.toString().endsWith(".class") || file.endsWith("module-info.class")) continue;
                byte[] head = Files.readAllBytes(file);
                assertEquals(52, (head[6] & 255) << 8 | head[7] & 255, file + ": major version");
                classes++;
            }
        }
        assertTrue(classes > 20);
    }
}
