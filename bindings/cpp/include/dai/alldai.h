// SPDX-License-Identifier: MIT OR Apache-2.0
/// @file
/// @brief All of these headers, and inference algorithms by name.
#ifndef FASTLBP_DAI_ALLDAI_H
#define FASTLBP_DAI_ALLDAI_H

#include <dai/bp.h>
#include <dai/emalg.h>

namespace dai {

/// The names of the inference algorithms there are.
inline std::set<std::string> builtinInfAlgNames() {
    std::set<std::string> names;
    for (const auto& entry : builtinInfAlgs())
        names.insert(entry.first);
    return names;
}

/// An inference algorithm by name, owned by the caller; UNKNOWN_DAI_ALGORITHM.
inline InfAlg* newInfAlg(const std::string& name, const FactorGraph& fg, const PropertySet& opts) {
    const auto at = builtinInfAlgs().find(name);
    if (at == builtinInfAlgs().end())
        DAI_THROWE(UNKNOWN_DAI_ALGORITHM, "'" + name + "': these headers have "
                                              + toString(builtinInfAlgNames()));
    return at->second->construct(fg, opts);
}

/// Name and properties of a text name[property=value,property=value]; MALFORMED_PROPERTY.
inline std::pair<std::string, PropertySet> parseNameProperties(const std::string& text) {
    const size_t bracket = text.find('[');
    if (bracket == std::string::npos)
        return std::make_pair(text, PropertySet());
    return std::make_pair(text.substr(0, bracket), PropertySet(text.substr(bracket)));
}

/// As parseNameProperties, where the name may be an alias for such a text; properties that are given
/// count more than the alias's.
inline std::pair<std::string, PropertySet>
parseNameProperties(const std::string& text, const std::map<std::string, std::string>& aliases) {
    std::pair<std::string, PropertySet> result = parseNameProperties(text);
    // An alias may stand for another one, but not for itself, however far.
    std::set<std::string> seen;
    for (auto alias = aliases.find(result.first); alias != aliases.end() && seen.insert(result.first).second;
         alias = aliases.find(result.first)) {
        const std::pair<std::string, PropertySet> meant = parseNameProperties(alias->second);
        result = std::make_pair(meant.first, meant.second(result.second));
    }
    return result;
}

/// An inference algorithm from a text name[property=value], owned by the caller.
inline InfAlg* newInfAlgFromString(const std::string& text, const FactorGraph& fg) {
    const std::pair<std::string, PropertySet> meant = parseNameProperties(text);
    return newInfAlg(meant.first, fg, meant.second);
}

/// As newInfAlgFromString, where the name may be an alias.
inline InfAlg* newInfAlgFromString(const std::string& text, const FactorGraph& fg,
                                   const std::map<std::string, std::string>& aliases) {
    const std::pair<std::string, PropertySet> meant = parseNameProperties(text, aliases);
    return newInfAlg(meant.first, fg, meant.second);
}

/// Aliases from a file: lines alias: name[property=value], of which the last counts that an alias has, empty ones, and
/// comments that begin with '#';
/// CANNOT_READ_FILE, INVALID_ALIAS.
inline std::map<std::string, std::string> readAliasesFile(const std::string& filename) {
    std::ifstream stream(filename.c_str());
    if (!stream)
        DAI_THROWE(CANNOT_READ_FILE, "'" + filename + "' cannot be opened");
    std::map<std::string, std::string> aliases;
    std::string line;
    for (size_t number = 1; std::getline(stream, line); ++number) {
        const size_t end = line.find_last_not_of(" \t\r");
        if (end == std::string::npos || line[0] == '#')
            continue;
        const size_t colon = line.find(':');
        const size_t value = line.find_first_not_of(" \t", colon + 1);
        if (colon == std::string::npos || value == std::string::npos || value > end)
            DAI_THROWE(INVALID_ALIAS, filename + ":" + toString(number) + ": '" + line
                                          + "' should be alias: name[property=value]");
        const std::string name = line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1);
        aliases[name] = line.substr(value, end + 1 - value);
    }
    return aliases;
}

} // namespace dai

#endif
