// Runs the message arithmetic on cases from src/kernel/differential, which compares the bits. Cases come from
// the standard input as 64-bit words: the number of a function, the number of its words, these. For
// each, the number of its results and these go to the standard output.

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "damping.cuh"
#include "far.cuh"
#include "horn.cuh"
#include "noisy.cuh"
#include "product.cuh"
#include "terms.cuh"
#include "threshold.cuh"

namespace {

using namespace fastlbp;

/// What a case has, word by word, and what it gives.
struct Case {
    const uint64_t *at;
    const uint64_t *end;
    std::vector<uint64_t> out;

    uint64_t word() {
        if (at == end) {
            std::fprintf(stderr, "a case has too few words\n");
            std::exit(1);
        }
        return *at++;
    }
    uint32_t count() { return static_cast<uint32_t>(word()); }
    double number() { return fastlbp::from_bits(word()); }
    Packed packed() { return Packed{word()}; }
    Wide wide() {
        const double significand = number();
        return Wide{significand, static_cast<int64_t>(word())};
    }
    std::vector<Packed> packed_values() {
        std::vector<Packed> values(count());
        for (Packed &value : values) {
            value = packed();
        }
        return values;
    }
    std::vector<double> numbers() {
        std::vector<double> values(count());
        for (double &value : values) {
            value = number();
        }
        return values;
    }
    std::vector<uint32_t> counts() {
        std::vector<uint32_t> values(count());
        for (uint32_t &value : values) {
            value = count();
        }
        return values;
    }

    void give(uint64_t word) { out.push_back(word); }
    void give(bool flag) { out.push_back(flag); }
    void give(double number) { out.push_back(to_bits(number)); }
    void give(Packed value) { out.push_back(value.bits); }
    void give(Wide value) {
        give(value.significand);
        give(static_cast<uint64_t>(value.exponent));
    }
    void give(Product product) {
        give(product.wide());
        give(uint64_t(product.zeros) << 32 | product.infinities);
    }
};

template <int N>
void pad(const std::vector<Packed> &values, Packed (&out)[N]) {
    for (int i = 0; i < N; ++i) {
        out[i] = i < int(values.size()) ? values[i] : Packed::one();
    }
}

void number(Case &c) {
    const Wide a = c.wide(), b = c.wide();
    c.give(multiply(a, b));
    c.give(a.multiply_positive(b));
    c.give(add(a, b));
    c.give(a.minus(b));
    c.give(larger(a, b));
    c.give(a.smaller(b));
    c.give(divide(a, b));
    c.give(add(Max<Wide>{a}, Max<Wide>{b}).value);
    c.give(a.to_f64());
    c.give(is_zero(a));
    const double x = a.to_f64();
    c.give(Wide::from_f64(x));
    c.give(larger(x, b.to_f64()));
}

void packed(Case &c) {
    const Wide a = c.wide(), b = c.wide();
    const double any = c.number();
    c.give(Packed::from_f64(any));
    c.give(Packed::ratio(a, b));
    const Packed value = Packed::pack(a);
    c.give(value);
    c.give(value.unpack());
    c.give(value.is_within<10>());
    c.give(value.is_within<1000>());
    c.give(value.is_plain());
    c.give(value.is_certain());
    c.give(value.may_be_certain());
    const Packed both[] = {value, Packed::pack(b)};
    c.give(all_near<64>(both));
    c.give(all_near<64>(both, 2));
    double probabilities[2];
    value.probabilities(probabilities);
    c.give(probabilities[0]);
    c.give(probabilities[1]);
    c.give(value.probability());
    // Zeros have no digits.
    const Far far = Far{a.significand, static_cast<int32_t>(a.exponent)};
    c.give(is_zero(a) ? Packed::zero() : far.packed());
    c.give(value == Packed::zero() ? value : Far::of(value).packed());
    // Rounded without being stored.
    const FarOdds odds = FarOdds::rounded(is_zero(a) ? 0.0 : a.significand, far.exponent);
    c.give(odds.exponent == FarOdds::NONE ? Packed::zero() : Far::normalise(odds.digits, odds.exponent).packed());
}

/// Everything over four or eight padded messages.
template <int N>
void few(Case &c, const std::vector<Packed> &values, Packed extra) {
    Packed padded[N];
    pad(values, padded);
    for (uint32_t leaf = 0; leaf < values.size(); ++leaf) {
        Packed odds;
        const bool near = leave_one_out_of_few(padded, leaf, odds);
        c.give(near);
        c.give(near ? odds : Packed::zero());
        bool contradictory;
        c.give(binary_leave_one_out(padded, leaf, contradictory));
        c.give(contradictory);
    }
    for (const Packed soft : {Packed::one(), extra}) {
        pad(values, padded);
        c.give(binary_leave_one_out_all(padded, soft));
        for (uint32_t leaf = 0; leaf < values.size(); ++leaf) {
            c.give(padded[leaf]);
        }
    }
}

void few_products(Case &c) {
    const Packed extra = c.packed();
    const std::vector<Packed> values = c.packed_values();
    if (values.size() <= 4) {
        few<4>(c, values, extra);
        Packed padded[4];
        pad(values, padded);
        double probability;
        const bool near = probability_of_few(padded, probability);
        c.give(near);
        c.give(near ? probability : 0.0);
    }
    few<8>(c, values, extra);
    Packed padded[8];
    pad(values, padded);
    c.give(of_block(padded));
    const Product above = combine(Product::of(extra), Product::of(values[0]));
    for (uint32_t leaf = 0; leaf < 8; ++leaf) {
        c.give(times_others(above, padded, leaf));
    }
}

void many_products(Case &c) {
    const Packed extra = c.packed();
    std::vector<Packed> values = c.packed_values();
    const uint32_t count = static_cast<uint32_t>(values.size());
    const Product total = product_of_leaves(count, [&](uint32_t i) { return Product::of(values[i]); });
    c.give(total);
    c.give(total.odds());
    double probabilities[2];
    total.probabilities(probabilities);
    c.give(probabilities[0]);
    c.give(probabilities[1]);
    std::vector<Product> products(count), nodes(tree_nodes(count));
    c.give(binary_leave_one_out_all(values.data(), count, extra, products.data(), nodes.data()));
    for (const Packed value : values) {
        c.give(value);
    }
}

/// States from products of two values each.
void states(Case &c) {
    const std::vector<Packed> values = c.packed_values();
    const uint32_t count = static_cast<uint32_t>(values.size()) / 2;
    std::vector<Product> products;
    for (uint32_t x = 0; x < count; ++x) {
        products.push_back(combine(Product::of(values[2 * x]), Product::of(values[2 * x + 1])));
    }
    std::vector<Packed> message(count);
    c.give(resolve_states(products.data(), count, message.data()));
    std::vector<double> probabilities(count);
    weights_to_probabilities(message.data(), count, probabilities.data());
    for (uint32_t x = 0; x < count; ++x) {
        c.give(message[x]);
        c.give(probabilities[x]);
    }
}

void sum(Case &c) {
    const std::vector<double> values = c.numbers();
    const uint32_t count = static_cast<uint32_t>(values.size());
    c.give(pairwise_sum(values.data(), count));
    if (count <= 8) {
        double few[8] = {};
        for (uint32_t i = 0; i < count; ++i) {
            few[i] = values[i];
        }
        c.give(pairwise_sum_of_few(few));
    }
}

template <template <class> class Number, int N>
void small_horn(Case &c, const std::vector<Packed> &inputs, uint32_t head, const HornLiterals &horn) {
    Packed values[N];
    pad(inputs, values);
    small_horn_messages<Number>(values, head, horn);
    for (const Packed value : values) {
        c.give(value);
    }
    pad(inputs, values);
    for (uint32_t target = 0; target < N; ++target) {
        const Packed own = values[target];
        values[target] = Packed::one();
        c.give(small_horn_message<Number>(values, head, target, horn));
        values[target] = own;
    }
}

template <template <class> class Number>
void horn_with(Case &c, const std::vector<Packed> &inputs, uint32_t head, const HornLiterals &horn) {
    const uint32_t count = static_cast<uint32_t>(inputs.size());
    std::vector<Body<Wide>> scratch(count + tree_nodes(count));
    std::vector<Packed> out(count);
    horn_messages<Number>(inputs.data(), count, head, horn, out.data(), scratch.data());
    for (const Packed value : out) {
        c.give(value);
    }
    for (uint32_t target = 0; target < count; ++target) {
        c.give(horn_message<Number>(inputs.data(), count, head, target, horn, scratch.data()));
    }
    switch (count) {
        case 1: return small_horn<Number, 1>(c, inputs, head, horn);
        case 2: return small_horn<Number, 2>(c, inputs, head, horn);
        case 3: return small_horn<Number, 3>(c, inputs, head, horn);
        case 4: return small_horn<Number, 4>(c, inputs, head, horn);
        case 5: return small_horn<Number, 5>(c, inputs, head, horn);
        case 6: return small_horn<Number, 6>(c, inputs, head, horn);
        case 7: return small_horn<Number, 7>(c, inputs, head, horn);
        case 8: return small_horn<Number, 8>(c, inputs, head, horn);
        default: return;
    }
}

/// Gives all messages that are not the expected ones.
template <int N>
void give_others(Case &c, const Packed (&messages)[N], const Packed (&expected)[N]) {
    for (int i = 0; i < N; ++i) {
        if (messages[i] != expected[i]) {
            c.give(messages[i]);
        }
    }
}

/// All messages of a factor of a GPU's far numbers, whatever the inputs are. Those of its other numbers, of such inputs as they are
/// for, are the same, else more is given than is expected.
template <template <class> class Number, int N>
void far_horn(Case &c, const std::vector<Packed> &inputs, uint32_t head, const HornLiterals &horn, bool giving) {
    if (inputs.size() == N) {
        Packed values[N], loose[N];
        pad(inputs, values);
        pad(inputs, loose);
        messages_of<typename Number<Far>::type>(values, head, horn);
        messages_of<typename Number<Loose>::type>(loose, head, horn);
        for (const Packed value : values) {
            if (giving) {
                c.give(value);
            }
        }
        give_others(c, loose, values);
        if ((horn.c.flags & HORN_PLAIN) != 0) {
            Packed in_range[N];
            pad(inputs, in_range);
            messages_of<typename Number<LooseInRange>::type>(in_range, head, horn);
            give_others(c, in_range, values);
        }
        uint32_t exponents = 0;
        bool in_doubles = true;
        for (const Packed input : inputs) {
            exponents += balanced_exponent(input);
            in_doubles &= input.is_within<PLAIN_EXPONENT>();
        }
        if (exponents < BALANCED_EXPONENTS && (horn.c.flags & HORN_PLAIN) != 0) {
            Packed balanced[N], far[N];
            pad(inputs, balanced);
            pad(inputs, far);
            messages_of<typename Number<BalancedFar>::type>(far, head, horn);
            give_others(c, far, values);
            messages_of<typename Number<Balanced>::type>(balanced, head, horn);
            // Of what no double holds, and of contradictions, only that; at the ends of the range, that or the message.
            for (int i = 0; i < N; ++i) {
                const bool is_inside = values[i].template is_within<PLAIN_EXPONENT - 1>();
                if (high(balanced[i]) == ~uint32_t(0) && !is_inside) {
                    balanced[i] = values[i];
                }
            }
            if (in_doubles) {
                give_others(c, balanced, values);
            }
        }
    }
}

template <template <class> class Number>
void far_horn(Case &c, const std::vector<Packed> &inputs, uint32_t head, const HornLiterals &horn, bool giving) {
    far_horn<Number, 1>(c, inputs, head, horn, giving);
    far_horn<Number, 2>(c, inputs, head, horn, giving);
    far_horn<Number, 3>(c, inputs, head, horn, giving);
    far_horn<Number, 4>(c, inputs, head, horn, giving);
    far_horn<Number, 8>(c, inputs, head, horn, giving);
}

void horn(Case &c) {
    const bool max = c.word() != 0;
    const uint32_t head = c.count();
    HornCoefficients coefficients;
    uint64_t words[sizeof coefficients / 8];
    for (uint64_t &word : words) {
        word = c.word();
    }
    __builtin_memcpy(&coefficients, words, sizeof coefficients);
    std::vector<uint64_t> more(c.count());
    for (uint64_t &word : more) {
        word = c.word();
    }
    const std::vector<Packed> inputs = c.packed_values();
    const HornLiterals literals{coefficients, more.data()};
    if (max) {
        horn_with<MaxProduct>(c, inputs, head, literals);
        far_horn<MaxProduct>(c, inputs, head, literals, false);
    } else {
        horn_with<SumProduct>(c, inputs, head, literals);
        far_horn<SumProduct>(c, inputs, head, literals, true);
    }
}

void noisy(Case &c) {
    const uint32_t head = c.count();
    const std::vector<double> numbers = c.numbers();
    const std::vector<Packed> inputs = c.packed_values();
    const uint32_t count = static_cast<uint32_t>(inputs.size());
    NoisyLiterals literals;
    __builtin_memcpy(&literals.head, numbers.data(), sizeof literals.head);
    literals.literals = reinterpret_cast<const double(*)[2][2]>(numbers.data() + 4);
    std::vector<Body<Wide>> scratch(count + tree_nodes(count));
    std::vector<Packed> out(count);
    noisy_messages(inputs.data(), count, head, literals, out.data(), scratch.data());
    for (uint32_t target = 0; target < count; ++target) {
        c.give(out[target]);
        c.give(noisy_message(inputs.data(), count, head, target, literals, scratch.data()));
    }
}

/// Runs `messages(target, out)` for all messages and for each.
template <class Messages>
void each_message(Case &c, const std::vector<uint32_t> &radices, size_t stored, Messages messages) {
    std::vector<Packed> out(stored, Packed::one());
    messages(ALL, out.data());
    for (const Packed value : out) {
        c.give(value);
    }
    for (uint32_t target = 0; target < radices.size(); ++target) {
        std::vector<Packed> one(stored_values(radices[target]), Packed::one());
        messages(target, one.data());
        for (const Packed value : one) {
            c.give(value);
        }
    }
}

uint32_t sum_of(const std::vector<uint32_t> &values) {
    uint32_t sum = 0;
    for (const uint32_t value : values) {
        sum += value;
    }
    return sum;
}

void table(Case &c) {
    const bool max = c.word() != 0;
    const int64_t low = static_cast<int64_t>(c.word()), high = static_cast<int64_t>(c.word());
    const std::vector<double> values = c.numbers();
    const std::vector<uint32_t> radices = c.counts();
    const std::vector<Packed> inputs = c.packed_values();
    const uint32_t arity = static_cast<uint32_t>(radices.size());
    const uint32_t entries = static_cast<uint32_t>(values.size());
    const TableInputs table = {values.data(), entries, low, high, radices.data(), arity, inputs.data()};
    std::vector<Wide> memory((table_memory(entries, sum_of(radices), arity) + 15) / 16);
    each_message(c, radices, inputs.size(), [&](uint32_t target, Packed *out) {
        if (max) {
            table_messages<MaxProduct>(table, target, out, memory.data(), OneThread());
        } else {
            table_messages<SumProduct>(table, target, out, memory.data(), OneThread());
        }
    });
    c.give(table_total(table));
    std::vector<double> belief(entries, 0.0);
    c.give(table_belief(table, belief.data()));
    for (const double value : belief) {
        c.give(value);
    }
}

void terms(Case &c) {
    const bool max = c.word() != 0;
    const std::vector<double> weights = c.numbers();
    const std::vector<uint32_t> offsets = c.counts();
    const std::vector<uint32_t> words = c.counts();
    const std::vector<uint32_t> radices = c.counts();
    const std::vector<Packed> inputs = c.packed_values();
    std::vector<TermLiteral> literals;
    for (size_t i = 0; i + 1 < words.size(); i += 2) {
        literals.push_back(TermLiteral{words[i], words[i + 1]});
    }
    const uint32_t arity = static_cast<uint32_t>(radices.size());
    const TermInputs factor = {weights.data(),
                               static_cast<uint32_t>(weights.size()),
                               offsets.data(),
                               literals.data(),
                               radices.data(),
                               arity,
                               inputs.data()};
    const uint32_t states = sum_of(radices);
    std::vector<Wide> memory((term_memory(states, arity, arity) + 15) / 16);
    each_message(c, radices, inputs.size(), [&](uint32_t target, Packed *out) {
        if (max) {
            term_messages<MaxProduct>(factor, states, target, out, memory.data());
        } else {
            term_messages<SumProduct>(factor, states, target, out, memory.data());
        }
    });
}

void mean(Case &c) {
    const Wide a = c.wide(), b = c.wide();
    c.give(geometric_mean(a, b, c.number()));
}

void damping(Case &c) {
    const double damping = c.number();
    const std::vector<Packed> old_values = c.packed_values();
    std::vector<Packed> now = c.packed_values();
    c.give(damp(old_values.data(), now.data(), static_cast<uint32_t>(now.size()), damping));
    for (const Packed value : now) {
        c.give(value);
    }
}

void threshold(Case &c) {
    const double factor = c.number();
    const std::vector<Packed> old_values = c.packed_values();
    const std::vector<Packed> now = c.packed_values();
    c.give(has_moved(old_values.data(), now.data(), static_cast<uint32_t>(now.size()), factor));
}

/// By the numbers of Function in src/kernel/differential.
typedef void (*Function)(Case &);
const Function FUNCTIONS[] = {number, packed, few_products, many_products, states, sum,
                              horn,   noisy,  table,        terms,         mean,   damping, threshold};

void write(const std::vector<uint64_t> &words) {
    if (std::fwrite(words.data(), 8, words.size(), stdout) != words.size()) {
        std::exit(1);
    }
}

}  // namespace

int main() {
    uint64_t start[2];
    std::vector<uint64_t> words;
    while (std::fread(start, 8, 2, stdin) == 2) {
        words.resize(start[1]);
        if (start[0] >= sizeof FUNCTIONS / sizeof *FUNCTIONS ||
            std::fread(words.data(), 8, words.size(), stdin) != words.size()) {
            std::fprintf(stderr, "a case is cut short or of an unknown function\n");
            return 1;
        }
        Case c{words.data(), words.data() + words.size(), {}};
        FUNCTIONS[start[0]](c);
        write({c.out.size()});
        write(c.out);
    }
    return 0;
}
