/**
 * The belief propagation of SmartFL, a probabilistic fault localiser for Java. See docs/src/guides/smartfl.md in
 * fastlbp's sources.
 */
package io.github.fastlbp.smartfl;
