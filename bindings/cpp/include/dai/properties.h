// SPDX-License-Identifier: MIT OR Apache-2.0
/// @file
/// @brief Sets of named values of any type.
#ifndef FASTLBP_DAI_PROPERTIES_H
#define FASTLBP_DAI_PROPERTIES_H

#include <dai/util.h>

#include <typeinfo>

namespace dai {

/// Name of a property.
typedef std::string PropertyKey;

/// A value of any type that can be copied and written to a stream.
class PropertyValue {
public:
    /// No value.
    PropertyValue() {}
    /// A value. (A string literal becomes a string.)
    template <typename T>
    PropertyValue(const T& value) : holder_(new Holder<T>(value)) {}
    PropertyValue(const char* value) : holder_(new Holder<std::string>(value)) {}

    /// Its type.
    const std::type_info& type() const { return holder_ ? holder_->type() : typeid(void); }
    /// Writes it.
    void write(std::ostream& stream) const {
        if (holder_)
            holder_->write(stream);
    }
    /// The value; IMPOSSIBLE_TYPECAST if it has another type.
    template <typename T>
    const T& as() const {
        if (type() != typeid(T))
            DAI_THROWE(IMPOSSIBLE_TYPECAST, std::string("a ") + type().name() + " is not a " + typeid(T).name());
        return static_cast<const Holder<T>&>(*holder_).value;
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
        void write(std::ostream& stream) const override { stream << value; }
        const T value;
    };
    std::shared_ptr<const Base> holder_; // values do not change, so copies can share them
};

/// A property: name and value.
typedef std::pair<PropertyKey, PropertyValue> Property;

/// Writes name=value.
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
        return set(key, toString(value));
    }
    /// Makes the value of a property, which may be a text, one of a type.
    template <typename T>
    void convertTo(const PropertyKey& key) {
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
        return value.type() == typeid(std::string) ? fromString<T>(value.as<std::string>()) : value.as<T>();
    }

    /// Writes [name=value,name=value].
    friend std::ostream& operator<<(std::ostream& stream, const PropertySet& properties) {
        stream << "[";
        for (const_iterator at = properties.begin(); at != properties.end(); ++at)
            stream << (at == properties.begin() ? "" : ",") << Property(*at);
        return stream << "]";
    }
    /// Reads what the operator << writes, all values as texts; MALFORMED_PROPERTY.
    friend std::istream& operator>>(std::istream& stream, PropertySet& properties) {
        properties.clear();
        std::string text, all;
        while (std::getline(stream, text))
            all += text;
        const size_t from = all.find_first_not_of(" \t\r"), to = all.find_last_not_of(" \t\r");
        if (from == std::string::npos || all[from] != '[' || all[to] != ']' || from == to)
            DAI_THROWE(MALFORMED_PROPERTY, "'" + all + "' should be in brackets");
        size_t depth = 0, start = from + 1;
        for (size_t i = from + 1; i <= to; ++i) {
            if (all[i] == '[')
                ++depth;
            else if (all[i] == ']' && i < to && depth-- == 0)
                DAI_THROWE(MALFORMED_PROPERTY, "'" + all + "' closes a bracket that is not open");
            if (i < to && (all[i] != ',' || depth != 0))
                continue;
            const std::string part = all.substr(start, i - start);
            start = i + 1;
            if (part.empty() && i == to && properties.size() == 0)
                break; // the empty set
            const size_t equals = part.find('=');
            if (equals == std::string::npos || equals == 0)
                DAI_THROWE(MALFORMED_PROPERTY, "'" + part + "' in '" + all + "' should be name=value");
            properties.set(part.substr(0, equals), part.substr(equals + 1));
        }
        if (depth != 0)
            DAI_THROWE(MALFORMED_PROPERTY, "'" + all + "' leaves a bracket open");
        return stream;
    }
};

} // namespace dai

#endif
