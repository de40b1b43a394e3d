// Factors of more than 32 variables by levels. Made by src/engine/cuda/binary/level_bodies.rs.
//
// What such a factor sends at a level is a tree of *nodes*: a leaf has 32 literals, and what is above has 32 nodes, up to the root,
// which has the head as well. A unit of a node reads what it needs and hands over what the next one needs: the bodies of nodes go
// up, one after the other, and then the body of all other nodes goes down, with the message from the head. Leaves have two units,
// which read the same: one before everything else that the level sends, and one behind it. A body lies in two places of a node,
// which are reset as those of messages are.
#pragma once

#include "binary_bodies.cuh"
#include "binary_versions.cuh"

namespace fastlbp {

/// What a thread of such a unit has in its last chunk: the node that it takes, or, of a leaf or a factor that is no conjunction,
/// anything but NODE_NONE if it has an edge; the unit's node, or the number of that factor; and the unit's kind.
struct NodeWords {
    uint32_t taken, own, kind;

    __device__ __forceinline__ explicit NodeWords(const uint4 &words) : taken(words.x), own(words.y), kind(words.z) {}

    __device__ __forceinline__ bool takes() const { return taken != NODE_NONE; }
};

/// The nodes of the state that a pass leads to, and of the one to be reset: of each NODE_WORDS, which are a body on its way up, one
/// on its way down, and the halves of the message from the head.
struct Nodes {
    uint64_t *now, *later;

    __device__ __forceinline__ explicit Nodes(const Places &places) {
        const Binary &g = shared_block().g;
        now = g.level_nodes + (places.buffer + 1) % LEVEL_STATES * g.node_stride;
        later = g.level_nodes + (places.buffer + 3) % LEVEL_STATES * g.node_stride;
    }

    /// By one thread.
    __device__ __forceinline__ void send_up(uint32_t node, const WideBody &body) const {
        WordsOfBody(body).hand_over_to(now + NODE_WORDS * node);
        reset_body(later + NODE_WORDS * node);
    }

    /// By each thread that takes a node.
    __device__ __forceinline__ void send_down(uint32_t node, const WideBody &others, Packed head) const {
        uint64_t *const to = now + NODE_WORDS * node + BODY_WORDS, *const next = later + NODE_WORDS * node + BODY_WORDS;
        WordsOfBody(others).hand_over_to(to);
        hand_over(to + BODY_WORDS, head.bits >> 32, static_cast<uint32_t>(head.bits));
        reset_body(next);
        hand_over(next + BODY_WORDS, UNSENT, UNSENT);
    }

    /// The bodies of the nodes that the threads of a warp take, as soon as they are there.
    __device__ __forceinline__ WideBody taken(const NodeWords &words) const {
        WordsOfBody body(WideBody::neutral());
        do {
            if (words.takes()) {
                body.look_for_body(now + NODE_WORDS * words.taken);
            }
        } while (is_any_missing(body.is_missing()));
        return body.body();
    }

    /// What has been sent down to a node.
    __device__ __forceinline__ WideBody above(uint32_t node, Packed &head) const {
        const uint64_t *const at = now + NODE_WORDS * node + BODY_WORDS;
        WordsOfBody body(WideBody::neutral());
        uint64_t high, low;
        do {
            body.look_for_body(at);
            look_for_two(at + BODY_WORDS, high, low);
        } while (is_any_missing(body.is_missing() | has_other_sign(high, 0) | has_other_sign(low, 0)));
        head = Packed{high << 32 | low};
        return body.body();
    }

private:
    /// Whether something is not there yet for a thread of the warp.
    static __device__ __forceinline__ bool is_any_missing(bool is_missing) {
        const bool any = __any_sync(~0u, is_missing);
#ifndef __CUDA_ARCH__
        if (any) {
            take_turns();
        }
#endif
        return any;
    }
};

/// What a unit of a node does, whose threads have these literals, or the head in the first one; gives what each sends along its
/// edge, if it sends something.
__device__ __forceinline__ Packed message_of_node(const Places &places, const NodeWords &words, const Literal &literal,
                                                  const HornCoefficients &coefficients, bool maxima) {
    const Nodes nodes(places);
    const bool is_first = threadIdx.x % 32 == 0;
    if (words.kind == NODE_LEAF_UP) {
        const WideBody body = body_of_literals(literal, maxima);
        if (is_first) {
            nodes.send_up(words.own, body);
        }
        return Packed::one();
    }
    const HeadValues &values = coefficients.head;
    Packed head = {__shfl_sync(~0u, literal.odds.bits, 0)};
    WideBody above = WideBody::neutral();
    if (words.kind == NODE_LEAF_DOWN) {
        above = nodes.above(words.own, head);
        return message_to_literal(literal, above, head, values, (coefficients.flags & HORN_PLAIN) != 0, maxima);
    }
    const BodyTree<Wide> tree(nodes.taken(words), maxima);
    if (words.kind == NODE_UP) {
        if (is_first) {
            nodes.send_up(words.own, tree.all);
        }
        return Packed::one();
    }
    const bool is_root = words.kind == NODE_ROOT;
    if (!is_root) {
        above = nodes.above(words.own, head);
    }
    const WideBody others = tree.rest(above);
    if (words.takes()) {
        nodes.send_down(words.taken, others, head);
    }
    return is_root ? odds_along(tree.all, head, values, true, false, maxima) : Packed::one();
}

}  // namespace fastlbp
