package io.github.fastlbp.spark;

import java.io.Serializable;
import java.util.Objects;

/** A graph as the bytes of its file, and what is known about its variables. For any of Spark's serializers. */
public final class GraphFile implements Serializable {
    private static final long serialVersionUID = 1L;

    private final String name;
    private final byte[] content;
    private final EvidenceSet evidence;

    /**
     * A graph and evidence.
     *
     * @param name a name, whose suffixes tell the format, such as {@code Chart-1.causal_fg.gz}
     * @param content the bytes of the file; not copied
     * @param evidence what is known
     */
    public GraphFile(String name, byte[] content, EvidenceSet evidence) {
        this.name = Objects.requireNonNull(name, "name");
        this.content = Objects.requireNonNull(content, "content");
        this.evidence = Objects.requireNonNull(evidence, "evidence");
    }

    String name() {
        return name;
    }

    byte[] content() {
        return content;
    }

    EvidenceSet evidence() {
        return evidence;
    }

    @Override
    public String toString() {
        return name + ", " + content.length + " bytes, " + evidence;
    }
}
