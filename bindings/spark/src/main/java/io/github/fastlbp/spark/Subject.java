package io.github.fastlbp.spark;

import java.io.Serializable;

/** A program whose alarms are to be ranked: a graph, its alarms, and which of them are true. */
public final class Subject implements Serializable {
    private static final long serialVersionUID = 1L;

    private final GraphFile graph;
    private final long[] alarms;
    private final String[] names;
    private final long[] trueAlarms;

    /**
     * A program.
     *
     * @param graph its graph, and what is known before the first answer
     * @param alarms labels of the variables of alarms
     * @param names as many names, by which alarms of equal probability are ordered, or null
     * @param trueAlarms labels of those that are true: the others are answered to be false
     */
    public Subject(GraphFile graph, long[] alarms, String[] names, long[] trueAlarms) {
        this.graph = graph;
        this.alarms = alarms.clone();
        this.names = names == null ? null : names.clone();
        this.trueAlarms = trueAlarms.clone();
    }

    GraphFile graph() {
        return graph;
    }

    long[] alarms() {
        return alarms;
    }

    String[] names() {
        return names;
    }

    long[] trueAlarms() {
        return trueAlarms;
    }

    @Override
    public String toString() {
        return graph + ", " + alarms.length + " alarms";
    }
}
