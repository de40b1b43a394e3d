package io.github.fastlbp;

/** The native library as a whole: its version, its messages, and the devices it sees. */
public final class FastLbp {
    private FastLbp() {}

    /**
     * Version of the library.
     *
     * @return such as "0.1.0"
     */
    public static String version() {
        NativeLibrary.load();
        return Native.string(Native.version());
    }

    /**
     * How the native library was built: version, machine, backends, features; for logs and bug reports.
     *
     * @return a text
     */
    public static String buildInfo() {
        NativeLibrary.load();
        return Native.string(Native.buildInfo());
    }

    /**
     * Sets where the library's messages go; by default nowhere. Waits until calls of the previous listener on other
     * threads have ended: after its return, that one is not called any more.
     *
     * @param listener the listener, or null for none
     * @throws FastLbpException with {@link Status#BUSY} from inside a listener, and while another thread is setting one
     */
    public static void setLogListener(LogListener listener) {
        NativeLibrary.load();
        Native.changeLog(listener);
    }

    /**
     * Number of CUDA devices. The driver is loaded and started by the first call that needs it.
     *
     * @return the number, at least 1
     * @throws FastLbpException with {@link Status#NO_DEVICE} if CUDA cannot be used; the message says why
     */
    public static int deviceCount() {
        NativeLibrary.load();
        return Native.deviceCount();
    }

    /**
     * Name of a CUDA device.
     *
     * @param index number of the device, from 0
     * @return such as "NVIDIA H200"
     * @throws FastLbpException with {@link Status#OUT_OF_RANGE} if there is no device of this number, and with
     *     {@link Status#NO_DEVICE} as {@link #deviceCount}
     */
    public static String deviceName(int index) {
        NativeLibrary.load();
        return Native.string(Native.deviceName(Check.index("device", index)));
    }

    /**
     * Memory of a CUDA device at this moment. The first call in a process takes some 100 milliseconds, and some of that
     * memory.
     *
     * @param index number of the device, from 0
     * @return the bytes that it has, and those of them that no process uses
     * @throws FastLbpException as {@link #deviceName}
     */
    public static long[] deviceMemory(int index) {
        NativeLibrary.load();
        long[] memory = new long[2];
        Native.deviceMemory(Check.index("device", index), memory);
        return memory;
    }

    /**
     * Starts the driver on a CUDA device, for which the first session on it would wait 0.2 seconds: a thread can do that
     * while another one makes the graph. A session that needs the device meanwhile waits for it. The virtual machine must
     * not end meanwhile, so it should be no daemon thread.
     *
     * <p>Where nothing else in the process uses CUDA, the environment variable CUDA_DEVICE_MAX_CONNECTIONS=1, set before
     * the virtual machine starts, halves the time that the context takes.
     *
     * @param index number of the device, from 0, or -1 for that of the environment variable FASTLBP_DEVICE
     * @throws FastLbpException as {@link #deviceName}; with {@link Status#DEVICE_FAILED} if the device does not work
     */
    public static void startDevice(int index) {
        NativeLibrary.load();
        Native.deviceStart(index == -1 ? index : Check.index("device", index));
    }
}
