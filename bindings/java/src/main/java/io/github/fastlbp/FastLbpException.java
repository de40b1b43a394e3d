package io.github.fastlbp;

import java.util.Objects;

/**
 * A call failed. The message says what was wrong, with which value, and what would be right; the status tells
 * programs.
 */
public final class FastLbpException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** What kind of failure it is. */
    private final Status status;

    /**
     * Makes an exception.
     *
     * @param status what kind of failure it is
     * @param message what was wrong
     */
    public FastLbpException(Status status, String message) {
        super(message);
        this.status = Objects.requireNonNull(status, "status");
    }

    /**
     * What kind of failure it is.
     *
     * @return the status, never {@link Status#OK}
     */
    public Status status() {
        return status;
    }

    @Override
    public String toString() {
        return getClass().getName() + ": " + status + ": " + getMessage();
    }
}
