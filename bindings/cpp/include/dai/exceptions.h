// SPDX-License-Identifier: MIT OR Apache-2.0
/// @file
/// @brief The exception of all of namespace dai.
#ifndef FASTLBP_DAI_EXCEPTIONS_H
#define FASTLBP_DAI_EXCEPTIONS_H

#include <dai/dai_config.h>

#include <stdexcept>
#include <string>

#define DAI_QUOTE_TEXT(x) #x
/// Its argument, expanded, as a string.
#define DAI_QUOTE(x) DAI_QUOTE_TEXT(x)

/// Throws the exception with a code.
#define DAI_THROW(cod) throw dai::Exception(dai::Exception::cod, __FILE__, __func__, DAI_QUOTE(__LINE__), "")

/// Throws the exception with a code and a text that says more.
#define DAI_THROWE(cod, msg) \
    throw dai::Exception(dai::Exception::cod, __FILE__, __func__, DAI_QUOTE(__LINE__), msg)

/// Throws ASSERTION_FAILED where a condition does not hold.
#define DAI_ASSERT(condition) \
    ((condition) ? static_cast<void>(0) \
                 : throw dai::Exception(dai::Exception::ASSERTION_FAILED, __FILE__, __func__, \
                                        DAI_QUOTE(__LINE__), "Assertion \"" #condition "\" failed"))

#ifdef DAI_DEBUG
/// As DAI_ASSERT, where DAI_DEBUG is defined.
#define DAI_DEBASSERT(condition) DAI_ASSERT(condition)
#else
/// As DAI_ASSERT, where DAI_DEBUG is defined.
#define DAI_DEBASSERT(condition) static_cast<void>(0)
#endif

namespace dai {

/// What went wrong: a code, a text for it, a text that says more, and where.
class Exception : public std::runtime_error {
public:
    /// Kinds of errors.
    enum Code {
        NOT_IMPLEMENTED,
        ASSERTION_FAILED,
        IMPOSSIBLE_TYPECAST,
        OBJECT_NOT_FOUND,
        BELIEF_NOT_AVAILABLE,
        UNKNOWN_ENUM_VALUE,
        UNKNOWN_DAI_ALGORITHM,
        UNKNOWN_PARAMETER_ESTIMATION_METHOD,
        UNKNOWN_PROPERTY_TYPE,
        UNKNOWN_PROPERTY,
        MALFORMED_PROPERTY,
        NOT_ALL_PROPERTIES_SPECIFIED,
        INVALID_ALIAS,
        CANNOT_READ_FILE,
        CANNOT_WRITE_FILE,
        INVALID_FACTORGRAPH_FILE,
        INVALID_EVIDENCE_FILE,
        INVALID_EMALG_FILE,
        NOT_NORMALIZABLE,
        MULTIPLE_UNDO,
        FACTORGRAPH_NOT_CONNECTED,
        INTERNAL_ERROR,
        RUNTIME_ERROR,
        OUT_OF_MEMORY,
        NUM_ERRORS ///< Number of the others.
    };

    /// An error at a place in a source; `detailed` may be empty.
    Exception(Code code, const char* filename, const char* function, const char* line,
              const std::string& detailed)
        : std::runtime_error(text(code) + (detailed.empty() ? "" : ": " + detailed) + " [" + filename
                             + ", line " + line + ", in " + function + "]"),
          code_(code), message_(text(code)), detailed_(detailed), filename_(filename),
          function_(function), line_(line) {}

    Exception(const Exception&) = default;
    Exception& operator=(const Exception&) = default;
    ~Exception() noexcept override {}

    /// The code.
    Code getCode() const { return code_; }
    /// The code.
    Code code() const { return code_; }
    /// The text of the code.
    const std::string& getMsg() const { return message_; }
    /// What was wrong in this case; may be empty.
    const std::string& getDetailedMsg() const { return detailed_; }
    /// Source file.
    const std::string& getFilename() const { return filename_; }
    /// Function.
    const std::string& getFunction() const { return function_; }
    /// Line, as a text.
    const std::string& getLine() const { return line_; }
    /// The text of a code.
    std::string message(Code code) const { return text(code); }

private:
    static std::string text(Code code) {
        static const char* const texts[] = {
            "not implemented", "assertion failed", "a value has another type than was asked for",
            "there is no such object", "this belief cannot be had", "unknown value of an enumeration",
            "unknown inference algorithm", "unknown method of parameter estimation",
            "a property has a type that cannot be written", "there is no such property",
            "malformed property", "a mandatory property is missing", "invalid alias",
            "a file cannot be read", "a file cannot be written", "invalid factor graph",
            "invalid evidence", "invalid file of parameters", "a sum is zero and cannot be normalised",
            "there is a backup already", "the factor graph is not connected", "internal error",
            "error while running", "out of memory"};
        return code < NUM_ERRORS ? texts[code] : "unknown error";
    }

    Code code_;
    std::string message_, detailed_, filename_, function_, line_;
};

} // namespace dai

#endif
