package io.github.fastlbp;

/** What a call came to, as in {@code fastlbp.h}. */
public enum Status {
    /** Done. */
    OK,
    /** A pointer that is needed is NULL; Java code gets a {@link NullPointerException} before. */
    NULL_POINTER,
    /** A value is not one that the call accepts. */
    INVALID_ARGUMENT,
    /** An index, label or state names nothing. */
    OUT_OF_RANGE,
    /** The caller's array or buffer is too short; the message says how long it must be. */
    BUFFER_TOO_SMALL,
    /** A string is not UTF-8. */
    INVALID_UTF8,
    /** A file does not follow its format; the message names file and line. */
    PARSE,
    /** A file could not be opened, read or written. */
    IO,
    /** Deterministic messages that disagree meet; the message names the variable. */
    CONTRADICTION,
    /** There are no results yet. */
    NO_RESULT,
    /** Another thread is inside of a call on this object, or this is a listener of such a call. */
    BUSY,
    /** An earlier call on this object ended with {@link #PANIC}; it can only be closed. */
    POISONED,
    /** A defect of the library; please report the message. */
    PANIC,
    /** Memory could not be had. */
    OUT_OF_MEMORY,
    /** Something is larger than the limits of the library. */
    LIMIT_EXCEEDED,
    /** The request is well-formed, but this build does not do it. */
    UNSUPPORTED,
    /** There is no usable device for the backend asked for. */
    NO_DEVICE,
    /** A device failed; the message says at what. */
    DEVICE_FAILED,
    /** A status that these classes do not know. */
    UNKNOWN;

    private static final Status[] ALL = values();

    /** The status with a number of {@code fastlbp_status}: constants are in the order of their numbers. */
    static Status of(int number) {
        return number >= 0 && number < UNKNOWN.ordinal() ? ALL[number] : UNKNOWN;
    }
}
