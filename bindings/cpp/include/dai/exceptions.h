// SPDX-License-Identifier: MIT OR Apache-2.0
/// @file
/// @brief The exception of all of namespace dai.
#ifndef FASTLBP_DAI_EXCEPTIONS_H
#define FASTLBP_DAI_EXCEPTIONS_H

#include <dai/dai_config.h>

#include <stdexcept>
#include <string>

/// Its argument as a string.
#define DAI_QUOTE(x) #x
/// Its argument, expanded, as a string.
#define DAI_TOSTRING(x) DAI_QUOTE(x)

#ifdef __GNUC__
/// The function in which it stands, with its type where the compiler tells it.
#define FUNCTION_NAME __PRETTY_FUNCTION__
#else
/// The function in which it stands, with its type where the compiler tells it.
#define FUNCTION_NAME __func__
#endif

/// Throws the exception with a code.
#define DAI_THROW(cod) DAI_THROWE(cod, "")

/// Throws the exception with a code and a text that says more.
#define DAI_THROWE(cod, msg) \
    throw dai::Exception(dai::Exception::cod, __FILE__, FUNCTION_NAME, DAI_TOSTRING(__LINE__), msg)

/// Throws ASSERTION_FAILED where a condition does not hold.
#define DAI_ASSERT(condition) \
    ((condition) ? static_cast<void>(0) \
                 : DAI_THROWE(ASSERTION_FAILED, std::string("Assertion \"" #condition "\" failed")))

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
        : std::runtime_error(text(code) + (detailed.empty() ? "" : ": " + detailed) + " [File " + filename
                             + ", line " + line + ", function: " + function + "]"),
          code_(code), detailed_(detailed), filename_(filename), function_(function), line_(line) {}

    Exception(const Exception&) = default;
    Exception& operator=(const Exception&) = default;
    ~Exception() noexcept override {}

    /// The code.
    Code getCode() const { return code_; }
    /// The code.
    Code code() const { return code_; }
    /// The text of the code.
    const std::string& getMsg() const { return text(code_); }
    /// What was wrong in this case; may be empty.
    const std::string& getDetailedMsg() const { return detailed_; }
    /// Source file.
    const std::string& getFilename() const { return filename_; }
    /// Function.
    const std::string& getFunction() const { return function_; }
    /// Line, as a text.
    const std::string& getLine() const { return line_; }
    /// The text of a code.
    const std::string& message(Code code) const { return text(code); }

private:
    // Programs compare these texts: they are those that libDAI prints.
    static const std::string& text(Code code) {
        static const std::string texts[] = {
            "Feature not implemented", "Assertion failed", "Impossible typecast", "Requested object not found",
            "Requested belief not available", "Unknown ENUM value", "Unknown DAI algorithm",
            "Unrecognized parameter estimation method", "Unknown Property type", "Unknown Property",
            "Malformed Property", "Not all mandatory Properties specified", "Invalid alias", "Cannot read file",
            "Cannot write file", "Invalid FactorGraph file", "Invalid Evidence file",
            "Invalid Expectation-Maximization file", "Quantity not normalizable",
            "Multiple undo levels unsupported", "FactorGraph is not connected", "Internal error",
            "Runtime error", "Out of memory", "Unknown error"};
        return texts[code < NUM_ERRORS ? code : NUM_ERRORS];
    }

    Code code_;
    std::string detailed_, filename_, function_, line_;
};

} // namespace dai

#endif
