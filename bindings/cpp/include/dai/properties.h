// SPDX-License-Identifier: MIT OR Apache-2.0
/// @file
/// @brief Sets of named values of any type.
#ifndef FASTLBP_DAI_PROPERTIES_H
#define FASTLBP_DAI_PROPERTIES_H

#include <dai/util.h>

#include <type_traits>
#include <typeinfo>

namespace dai {

/// Name of a property.
typedef std::string PropertyKey;

class PropertySet;

namespace detail {
/// Whether properties of a type can be written: numbers, texts and sets of properties.
template <typename T>
struct IsWritable : std::integral_constant<bool, std::is_arithmetic<T>::value || std::is_same<T, std::string>::value
                                                     || std::is_same<T, PropertySet>::value> {};
} // namespace detail

/// A value of any type that can be copied. boost::any_cast takes it as well, with or without Boost.
class PropertyValue {
public:
    /// No value.
    PropertyValue() {}
    /// A value. (A string literal becomes a string.)
    template <typename T>
    PropertyValue(const T& value) : holder_(new Holder<T>(value)) {}
    PropertyValue(const char* value) : holder_(new Holder<std::string>(value)) {}

    /// Whether there is no value.
    bool empty() const { return !holder_; }
    /// Its type.
    const std::type_info& type() const { return holder_ ? holder_->type() : typeid(void); }
    /// Writes it; UNKNOWN_PROPERTY_TYPE unless it is a number, a text or a set of properties.
    void write(std::ostream& stream) const {
        if (!holder_)
            DAI_THROW(UNKNOWN_PROPERTY_TYPE);
        holder_->write(stream);
    }
    /// The value, NULL if it has another type.
    template <typename T>
    const T* pointer() const {
        return type() == typeid(T) ? &static_cast<const Holder<T>&>(*holder_).value : nullptr;
    }
    /// The value; IMPOSSIBLE_TYPECAST if it has another type.
    template <typename T>
    const T& as() const {
        if (!pointer<T>())
            DAI_THROWE(IMPOSSIBLE_TYPECAST, std::string("a ") + type().name() + " is not a " + typeid(T).name());
        return *pointer<T>();
    }

private:
    struct Base {
        virtual ~Base() {}
        virtual const std::type_info& type() const = 0;
        virtual void write(std::ostream& stream) const = 0;
    };
    template <typename T>
    struct Holder : Base {
        explicit Holder(const T& t) : value(t) {}
        const std::type_info& type() const override { return typeid(T); }
        void write(std::ostream& stream) const override { write(stream, detail::IsWritable<T>()); }
        void write(std::ostream& stream, std::true_type) const { stream << value; }
        void write(std::ostream&, std::false_type) const { DAI_THROWE(UNKNOWN_PROPERTY_TYPE, typeid(T).name()); }
        const T value;
    };
    std::shared_ptr<const Base> holder_; // values do not change, so copies can share them
};

/// A property: name and value.
typedef std::pair<PropertyKey, PropertyValue> Property;

/// Writes name=value; UNKNOWN_PROPERTY_TYPE.
inline std::ostream& operator<<(std::ostream& stream, const Property& property) {
    stream << property.first << "=";
    property.second.write(stream);
    return stream;
}

/// A set of properties. As a text it is [name=value,name=value]; a value may itself be in brackets.
class PropertySet : private std::map<PropertyKey, PropertyValue> {
    typedef std::map<PropertyKey, PropertyValue> Map;

public:
    typedef Map::const_iterator const_iterator;
    using Map::begin;
    using Map::end;
    using Map::size;
    using Map::clear;

    /// Empty.
    PropertySet() {}
    /// From a text; MALFORMED_PROPERTY.
    PropertySet(const std::string& text) {
        std::istringstream stream(text);
        stream >> *this;
    }

    /// Sets a property.
    PropertySet& set(const PropertyKey& key, const PropertyValue& value) {
        Map::operator[](key) = value;
        return *this;
    }
    /// Sets all properties of another set.
    PropertySet& set(const PropertySet& others) {
        for (const auto& property : others)
            set(property.first, property.second);
        return *this;
    }
    /// This set with a property set.
    PropertySet operator()(const PropertyKey& key, const PropertyValue& value) const {
        return PropertySet(*this).set(key, value);
    }
    /// This set with all properties of another one set.
    PropertySet operator()(const PropertySet& others) const { return PropertySet(*this).set(others); }
    /// Sets a property to a value as a text.
    template <typename T>
    PropertySet& setAsString(const PropertyKey& key, const T& value) {
        return set(key, dai::toString(value));
    }
    /// Makes the value of a property, a text, one of a type; ASSERTION_FAILED if it has a third type, IMPOSSIBLE_TYPECAST.
    template <typename T>
    void convertTo(const PropertyKey& key) {
        DAI_ASSERT(get(key).type() == typeid(T) || get(key).type() == typeid(std::string));
        set(key, getStringAs<T>(key));
    }
    /// Takes a property away; returns how many there were.
    size_t erase(const PropertyKey& key) { return Map::erase(key); }
    /// Whether there is a property of a name.
    bool hasKey(const PropertyKey& key) const { return count(key) != 0; }
    /// All names.
    std::set<PropertyKey> keys() const {
        std::set<PropertyKey> result;
        for (const auto& property : *this)
            result.insert(property.first);
        return result;
    }
    /// A value; OBJECT_NOT_FOUND.
    const PropertyValue& get(const PropertyKey& key) const {
        const const_iterator at = find(key);
        if (at == end())
            DAI_THROWE(OBJECT_NOT_FOUND, "there is no property '" + key + "'");
        return at->second;
    }
    /// A value of a type; OBJECT_NOT_FOUND, IMPOSSIBLE_TYPECAST.
    template <typename T>
    T getAs(const PropertyKey& key) const {
        return get(key).as<T>();
    }
    /// A value of a type, which may be stored as a text; OBJECT_NOT_FOUND, IMPOSSIBLE_TYPECAST.
    template <typename T>
    T getStringAs(const PropertyKey& key) const {
        const PropertyValue& value = get(key);
        return value.type() == typeid(std::string) ? dai::fromString<T>(value.as<std::string>()) : value.as<T>();
    }

    /// Writes [name=value,name=value].
    friend std::ostream& operator<<(std::ostream& stream, const PropertySet& properties) {
        stream << "[";
        for (const_iterator at = properties.begin(); at != properties.end(); ++at)
            stream << (at == properties.begin() ? "" : ",") << Property(*at);
        return stream << "]";
    }
    /// As the operator << writes it.
    std::string toString() const { return dai::toString(*this); }
    /// Reads what the operator << writes, up to the next space, all values as texts; MALFORMED_PROPERTY.
    friend std::istream& operator>>(std::istream& stream, PropertySet& properties) {
        properties.clear();
        std::string text;
        stream >> text;
        if (text.size() < 2 || text.front() != '[' || text.back() != ']')
            DAI_THROWE(MALFORMED_PROPERTY, "'" + text + "' should be in brackets, and without spaces");
        const size_t last = text.size() - 1;
        for (size_t start = 1; start < last;) {
            const size_t equals = text.find('=', start + 1);
            if (equals == std::string::npos)
                DAI_THROWE(MALFORMED_PROPERTY, "'" + text.substr(start, last - start) + "' in '" + text
                                                   + "' should be name=value");
            size_t end = equals + 1, open = 0;
            for (; end < last && (open != 0 || text[end] != ','); ++end) {
                if (text[end] == ']' && open-- == 0)
                    DAI_THROWE(MALFORMED_PROPERTY, "'" + text + "' closes a bracket that is not open");
                open += text[end] == '[';
            }
            if (open != 0)
                DAI_THROWE(MALFORMED_PROPERTY, "'" + text + "' leaves a bracket open");
            properties.set(text.substr(start, equals - start), text.substr(equals + 1, end - equals - 1));
            start = end + 1;
        }
        return stream;
    }
    /// As the operator >>.
    void fromString(const std::string& text) {
        std::istringstream stream(text);
        stream >> *this;
    }
};

} // namespace dai

namespace boost {

/// The value of a property; IMPOSSIBLE_TYPECAST if it has another type, where Boost's own throws bad_any_cast.
template <typename T>
T any_cast(const dai::PropertyValue& value) {
    return value.template as<typename std::remove_cv<typename std::remove_reference<T>::type>::type>();
}
/// The value of a property, NULL if it has another type.
template <typename T>
const T* any_cast(const dai::PropertyValue* value) {
    return value ? value->template pointer<typename std::remove_cv<T>::type>() : nullptr;
}

} // namespace boost

#endif
