// SPDX-License-Identifier: MIT OR Apache-2.0
/// @file
/// @brief Whole numbers of any size, for numbers of joint states.
#ifndef FASTLBP_DAI_BIGINT_H
#define FASTLBP_DAI_BIGINT_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

namespace dai {

/// A whole number of any size that is not negative, with the operations that numbers of joint states need, where
/// libDAI has mpz_class of the GMP library. Subtraction needs a number that is not larger.
class BigInt {
public:
    /// 0.
    BigInt() : small_(0) {}
    /// The value of a number, which must not be negative.
    BigInt(unsigned long long value) : small_(value) {}
    BigInt(unsigned long value) : small_(value) {}
    BigInt(unsigned int value) : small_(value) {}
    BigInt(long long value) : small_(static_cast<std::uint64_t>(value)) {}
    BigInt(long value) : small_(static_cast<std::uint64_t>(value)) {}
    BigInt(int value) : small_(static_cast<std::uint64_t>(value)) {}

    /// The value, modulo the range of the result.
    unsigned long get_ui() const {
        return static_cast<unsigned long>(is_small() ? small_ : digits_[0] | std::uint64_t(digits_[1]) << 32);
    }
    /// Whether the value is one of an unsigned long.
    bool fits_ulong_p() const { return is_small() && static_cast<unsigned long>(small_) == small_; }
    /// The value as a floating-point number.
    double get_d() const {
        double value = static_cast<double>(small_);
        for (std::size_t i = digits_.size(); i-- > 0;)
            value = value * 4294967296.0 + digits_[i];
        return value;
    }
    /// The decimal digits.
    std::string get_str() const {
        if (is_small())
            return std::to_string(small_);
        std::string text; // backwards
        for (Digits rest = digits_; !rest.empty();) {
            std::uint32_t part = divide(rest, 1000000000);
            for (int i = 0; i < 9 && (part != 0 || !rest.empty()); ++i, part /= 10)
                text += static_cast<char>('0' + part % 10);
        }
        return std::string(text.rbegin(), text.rend());
    }

    BigInt& operator+=(const BigInt& x) {
        if (is_small() && x.is_small() && small_ <= UINT64_MAX - x.small_)
            small_ += x.small_;
        else
            set(sum(digits(), x.digits()));
        return *this;
    }
    /// The difference; x must not be the larger one.
    BigInt& operator-=(const BigInt& x) {
        if (is_small() && x.is_small())
            small_ -= x.small_;
        else
            set(difference(digits(), x.digits()));
        return *this;
    }
    BigInt& operator*=(const BigInt& x) {
        if (is_small() && x.is_small() && (x.small_ == 0 || small_ <= UINT64_MAX / x.small_))
            small_ *= x.small_;
        else
            set(product(digits(), x.digits()));
        return *this;
    }
    /// The quotient, rounded down; that by 0 is 0.
    BigInt& operator/=(const BigInt& x) {
        BigInt rest;
        return *this = quotient(x, rest);
    }
    /// What the division leaves; that by 0 leaves 0.
    BigInt& operator%=(const BigInt& x) {
        BigInt rest;
        quotient(x, rest);
        return *this = rest;
    }
    BigInt& operator++() { return *this += 1; }
    BigInt operator++(int) {
        const BigInt before(*this);
        ++*this;
        return before;
    }
    friend BigInt operator+(BigInt a, const BigInt& b) { return a += b; }
    friend BigInt operator-(BigInt a, const BigInt& b) { return a -= b; }
    friend BigInt operator*(BigInt a, const BigInt& b) { return a *= b; }
    friend BigInt operator/(BigInt a, const BigInt& b) { return a /= b; }
    friend BigInt operator%(BigInt a, const BigInt& b) { return a %= b; }

    friend bool operator==(const BigInt& a, const BigInt& b) { return a.small_ == b.small_ && a.digits_ == b.digits_; }
    friend bool operator!=(const BigInt& a, const BigInt& b) { return !(a == b); }
    friend bool operator<(const BigInt& a, const BigInt& b) {
        if (a.digits_.size() != b.digits_.size())
            return a.digits_.size() < b.digits_.size();
        return a.small_ < b.small_
               || std::lexicographical_compare(a.digits_.rbegin(), a.digits_.rend(), b.digits_.rbegin(),
                                               b.digits_.rend());
    }
    friend bool operator>(const BigInt& a, const BigInt& b) { return b < a; }
    friend bool operator<=(const BigInt& a, const BigInt& b) { return !(b < a); }
    friend bool operator>=(const BigInt& a, const BigInt& b) { return !(a < b); }
    /// Writes the decimal digits.
    friend std::ostream& operator<<(std::ostream& stream, const BigInt& x) { return stream << x.get_str(); }

private:
    typedef std::vector<std::uint32_t> Digits; // of base 2^32, the lowest first, the highest not 0

    bool is_small() const { return digits_.empty(); }
    Digits digits() const {
        Digits result(digits_);
        for (std::uint64_t rest = small_; rest != 0; rest >>= 32)
            result.push_back(static_cast<std::uint32_t>(rest));
        return result;
    }
    void set(Digits digits) {
        trim(digits);
        small_ = 0;
        if (digits.size() > 2) {
            digits_.swap(digits);
            return;
        }
        digits_.clear();
        while (!digits.empty()) {
            small_ = small_ << 32 | digits.back();
            digits.pop_back();
        }
    }

    static void trim(Digits& digits) {
        while (!digits.empty() && digits.back() == 0)
            digits.pop_back();
    }
    static Digits sum(Digits a, const Digits& b) {
        a.resize(std::max(a.size(), b.size()) + 1, 0);
        std::uint64_t carry = 0;
        for (std::size_t i = 0; i < a.size(); ++i, carry >>= 32) {
            carry += std::uint64_t(a[i]) + (i < b.size() ? b[i] : 0);
            a[i] = static_cast<std::uint32_t>(carry);
        }
        return a;
    }
    static Digits difference(Digits a, const Digits& b) {
        std::uint64_t borrow = 0;
        for (std::size_t i = 0; i < a.size(); ++i) {
            const std::uint64_t subtrahend = borrow + (i < b.size() ? b[i] : 0);
            borrow = a[i] < subtrahend;
            a[i] = static_cast<std::uint32_t>(a[i] - subtrahend);
        }
        return a;
    }
    static Digits product(const Digits& a, const Digits& b) {
        Digits result(a.size() + b.size(), 0);
        for (std::size_t i = 0; i < a.size(); ++i) {
            std::uint64_t carry = 0;
            for (std::size_t k = 0; k < b.size(); ++k, carry >>= 32) {
                carry += result[i + k] + std::uint64_t(a[i]) * b[k];
                result[i + k] = static_cast<std::uint32_t>(carry);
            }
            result[i + b.size()] = static_cast<std::uint32_t>(carry);
        }
        return result;
    }
    // Divides by a number of one digit, and returns what is left.
    static std::uint32_t divide(Digits& digits, std::uint32_t divisor) {
        std::uint64_t rest = 0;
        for (std::size_t i = digits.size(); i-- > 0;) {
            rest = rest << 32 | digits[i];
            digits[i] = static_cast<std::uint32_t>(rest / divisor);
            rest %= divisor;
        }
        trim(digits);
        return static_cast<std::uint32_t>(rest);
    }
    BigInt quotient(const BigInt& x, BigInt& rest) const {
        rest = BigInt();
        if (x == 0)
            return BigInt();
        if (is_small() && x.is_small()) {
            rest = BigInt(small_ % x.small_);
            return BigInt(small_ / x.small_);
        }
        BigInt result;
        Digits all = digits();
        if (x.is_small() && x.small_ <= UINT32_MAX) {
            rest = BigInt(divide(all, static_cast<std::uint32_t>(x.small_)));
            result.set(all);
            return result;
        }
        // Bit by bit: divisors of more than one digit are rare.
        for (std::size_t bit = all.size() * 32; bit-- > 0;) {
            rest += rest;
            result += result;
            if (all[bit / 32] >> bit % 32 & 1)
                rest += 1;
            if (rest >= x) {
                rest -= x;
                result += 1;
            }
        }
        return result;
    }

    std::uint64_t small_; // the value, where digits_ is empty, and 0 elsewhere
    Digits digits_;       // of a value that does not fit there
};

} // namespace dai

#endif
