package io.github.fastlbp;

import java.io.BufferedReader;
import java.io.File;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.CodeSource;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/**
 * Loads the native library: the file that the system property {@code fastlbp.library.path} names, or else the
 * one in the jar, by way of a temporary directory of its own, which is gone when the library is loaded. So any
 * number of JVMs, and of class loaders in one, load it at the same time, each its own copy.
 */
final class NativeLibrary {
    private static final String PATH = "fastlbp.library.path";
    private static final String FILE = "libfastlbp_jni.so";

    /** Hexadecimal digits of a CRC-32. */
    private static final int SUM_DIGITS = 8;

    /** Names of directories that are tried: they are taken only if somebody means them to be. */
    private static final int MOST_NAMES = 1000;

    private static boolean loaded;
    private static UnsatisfiedLinkError failure;

    private NativeLibrary() {}

    /** Loads the library if that is still to be done; if it failed once, says so again. */
    static synchronized void load() {
        if (loaded) return;
        if (failure == null) {
            try {
                find();
                loaded = true;
                return;
            } catch (UnsatisfiedLinkError error) {
                failure = error;
            }
        }
        UnsatisfiedLinkError error = new UnsatisfiedLinkError(failure.getMessage());
        error.initCause(failure);
        throw error;
    }

    private static void find() {
        String path = System.getProperty(PATH);
        if (path == null || path.isEmpty()) {
            extractAndLoad("/natives/" + platform() + "/" + FILE);
        } else {
            Path file = Paths.get(path).toAbsolutePath();
            loadFile(Files.isDirectory(file) ? file.resolve(FILE) : file);
        }
        String version = Native.string(Native.version());
        if (!version.equals(Native.VERSION)) {
            throw new UnsatisfiedLinkError("the native library of fastlbp that was loaded has version " + version
                    + ", but the Java classes have version " + Native.VERSION
                    + (path == null ? "" : "; it was chosen by -D" + PATH + "=" + path));
        }
    }

    private static void loadFile(Path file) {
        if (!Files.isRegularFile(file)) {
            throw new UnsatisfiedLinkError("-D" + PATH + " names " + file + ", but there is no such file; it must be "
                    + FILE + " or the directory that contains it");
        }
        try {
            System.load(file.toString());
        } catch (UnsatisfiedLinkError error) {
            // The JVM lets only one class loader load a file.
            if (!String.valueOf(error.getMessage()).contains("already loaded in another classloader")) throw error;
            try (InputStream library = Files.newInputStream(file)) {
                copyAndLoad(library, file.toString(), null);
            } catch (IOException exception) {
                throw failure("cannot read " + file + ": " + exception, exception);
            }
        }
    }

    private static void extractAndLoad(String resource) {
        try (ZipFile jar = ownJar();
                InputStream library = open(jar, resource);
                InputStream sum = open(jar, resource + ".crc32")) {
            if (library == null || sum == null) {
                throw new UnsatisfiedLinkError("the jar of fastlbp has no native library for this machine, "
                        + platform() + " (" + resource + "): build it there with scripts/build-java, or name one by -D"
                        + PATH + "=FILE");
            }
            byte[] digits = new byte[SUM_DIGITS];
            int length = 0;
            for (int read = 0; read >= 0 && length < SUM_DIGITS; length += Math.max(0, read)) {
                read = sum.read(digits, length, SUM_DIGITS - length);
            }
            copyAndLoad(library, resource, new String(digits, 0, length, StandardCharsets.US_ASCII));
        } catch (IOException exception) {
            throw failure("cannot read " + resource + " in the jar of fastlbp: " + exception, exception);
        }
    }

    /**
     * The jar that these classes are from, or null if they are not from a jar of their own. (Class loaders look for resources
     * in the modules of the JVM first, for which it opens its image: a quarter of the first call.)
     */
    private static ZipFile ownJar() {
        try {
            CodeSource source = NativeLibrary.class.getProtectionDomain().getCodeSource();
            URL place = source == null ? null : source.getLocation();
            if (place == null || !place.getProtocol().equals("file") || !place.getPath().endsWith(".jar")) return null;
            return new ZipFile(new File(place.toURI()));
        } catch (IOException | URISyntaxException | IllegalArgumentException | SecurityException exception) {
            // Class loaders may know better.
            return null;
        }
    }

    private static InputStream open(ZipFile jar, String resource) throws IOException {
        ZipEntry entry = jar == null ? null : jar.getEntry(resource.substring(1));
        return entry == null ? NativeLibrary.class.getResourceAsStream(resource) : jar.getInputStream(entry);
    }

    /**
     * Loads a copy of a library, of which the CRC-32 must be the given one, if there is one. It finds damage, as
     * anything would; a stronger hash took nine tenths of the first call, since the JVM has not compiled it by then.
     */
    private static void copyAndLoad(InputStream library, String name, String wanted) {
        Path directory;
        try {
            // The property may be relative, but what is loaded may not.
            directory = newDirectory(Paths.get(System.getProperty("java.io.tmpdir"))).toAbsolutePath();
        } catch (IOException exception) {
            throw failure(
                    "cannot make a directory for the native library of fastlbp in "
                            + System.getProperty("java.io.tmpdir")
                            + ": " + exception + advice(), exception);
        }
        Path file = directory.resolve(FILE);
        try {
            String found = copy(library, file);
            if (wanted != null && !found.equals(wanted)) {
                throw new UnsatisfiedLinkError("the native library of fastlbp is damaged: " + name
                        + " has the CRC-32 " + found + ", but it should be " + wanted);
            }
            loadCopy(file, directory);
        } catch (IOException exception) {
            throw failure("cannot write the native library of fastlbp to " + file + ": " + exception + advice(),
                    exception);
        } finally {
            // Once it is mapped, the JVM does not need the file any more.
            delete(file);
            delete(directory);
        }
    }

    /**
     * Makes a directory that was not there, which only this user can enter. Its name may be known before: one that is
     * there already is never used. (Files.createTempDirectory asks for a secure random number, for which the JVM loads
     * all that it has of cryptography: a quarter of the first call.)
     */
    private static Path newDirectory(Path parent) throws IOException {
        FileAttribute<Set<PosixFilePermission>> mine = PosixFilePermissions.asFileAttribute(EnumSet.of(
                PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE, PosixFilePermission.OWNER_EXECUTE));
        for (int attempt = 1; ; attempt++) {
            Path path = parent.resolve("fastlbp-"
                    + Long.toHexString(System.nanoTime() ^ (long) System.identityHashCode(mine) << 32));
            try {
                return Files.createDirectory(path, mine);
            } catch (FileAlreadyExistsException exception) {
                if (attempt == MOST_NAMES) throw exception;
            } catch (UnsupportedOperationException exception) {
                // No such permissions: as the JVM does it there.
                return Files.createTempDirectory(parent, "fastlbp-");
            }
        }
    }

    private static void loadCopy(Path file, Path directory) {
        try {
            System.load(file.toString());
        } catch (UnsatisfiedLinkError error) {
            throw failure(
                    "the native library of fastlbp was extracted to " + directory
                            + ", but cannot be loaded from there: "
                            + error.getMessage() + reason(String.valueOf(error.getMessage())) + advice(), error);
        }
    }

    static String reason(String message) {
        // What the dynamic linker of glibc says of a symbol version that it lacks.
        if (message.contains("GLIBC_")) {
            return "; this library was built on a system with a newer C library: one of scripts/build-natives needs"
                    + " glibc 2.17 only, or";
        }
        return "; if that is on a file system mounted with 'noexec'";
    }

    private static String advice() {
        return ", set -Djava.io.tmpdir to another directory, or extract " + FILE + " from the jar and name it by -D"
                + PATH + "=FILE";
    }

    /** Copies a stream to a new file; returns its CRC-32, in eight hexadecimal digits. */
    private static String copy(InputStream source, Path file) throws IOException {
        CRC32 sum = new CRC32();
        // (Streams of java.io and not of channels here and below: most JVMs have these classes ready.)
        try (OutputStream output = new FileOutputStream(file.toFile())) {
            byte[] block = new byte[1 << 16];
            for (int length = source.read(block); length >= 0; length = source.read(block)) {
                sum.update(block, 0, length);
                output.write(block, 0, length);
            }
        }
        String digits = Long.toHexString(sum.getValue());
        return "00000000".substring(digits.length()) + digits;
    }

    private static void delete(Path path) {
        try {
            Files.deleteIfExists(path);
        } catch (IOException exception) {
            // It stays in the temporary directory: not worth failing for.
            path.toFile().deleteOnExit();
        }
    }

    private static UnsatisfiedLinkError failure(String text, Throwable cause) {
        UnsatisfiedLinkError error = new UnsatisfiedLinkError(text);
        error.initCause(cause);
        return error;
    }

    /**
     * Operating system, architecture and, where that is musl, the C library, as the directories in the jar are named.
     */
    static String platform() {
        String system = System.getProperty("os.name").toLowerCase(Locale.ROOT);
        String machine = System.getProperty("os.arch").toLowerCase(Locale.ROOT);
        if (machine.equals("amd64")) machine = "x86_64";
        return system + "-" + machine + (isMusl(machine) ? "-musl" : "");
    }

    /**
     * Whether this JVM runs on musl: whether it has mapped musl's dynamic linker, which is its C library, too. Programs for
     * musl name it by its path, so it is nowhere else.
     */
    private static boolean isMusl(String machine) {
        if (!new File("/lib/ld-musl-" + machine + ".so.1").exists()) return false;
        File maps = new File("/proc/self/maps");
        if (!maps.canRead()) return false;
        try (BufferedReader reader = new BufferedReader(
                new InputStreamReader(new FileInputStream(maps), StandardCharsets.ISO_8859_1))) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                if (line.contains("/ld-musl-")) return true;
                if (line.contains("/ld-linux") || line.contains("/libc.so.6")) return false;
            }
        } catch (IOException exception) {
            // It cannot be told: glibc is the usual one.
        }
        return false;
    }
}
