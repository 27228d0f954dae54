# SPDX-License-Identifier: MIT
"""Checks values against the part of JSON Schema that our schemas use; anything else is an error."""
import re

NOTES = {'$schema', '$defs', 'title', 'description', 'contentEncoding'}
TYPES = {'object': dict, 'array': list, 'string': str, 'boolean': bool}


class Schema:
    """A schema; errors() says what is wrong with a value."""

    def __init__(self, root):
        self.root = root
        self.patterns = {}

    def errors(self, value):
        return list(self._check(self.root, value, '$'))

    def _matches(self, pattern, text):
        if pattern not in self.patterns:
            self.patterns[pattern] = re.compile(pattern.replace('$', r'\Z'))
        return self.patterns[pattern].search(text)

    def _check(self, schema, value, path):
        for keyword, content in schema.items():
            if keyword in NOTES:
                continue
            check = getattr(self, '_' + keyword.lstrip('$'), None)
            if not check:
                raise NotImplementedError(keyword)
            yield from check(content, value, path, schema)

    def _ref(self, name, value, path, _):
        part = self.root
        for key in name[2:].split('/'):
            part = part[key]
        yield from self._check(part, value, path)

    def _type(self, name, value, path, _):
        if name == 'integer':
            good = isinstance(value, int) and not isinstance(value, bool)
        else:
            good = isinstance(value, TYPES[name])
        if not good:
            yield '%s: %r is no %s' % (path, value, name)

    def _required(self, names, value, path, _):
        for name in names:
            if name not in value:
                yield '%s: %s is missing' % (path, name)

    def _properties(self, parts, value, path, _):
        for name, part in parts.items():
            if name in value:
                yield from self._check(part, value[name], path + '.' + name)

    def _additionalProperties(self, part, value, path, schema):
        for name, item in value.items():
            if name in schema.get('properties', {}):
                continue
            if part is False:
                yield '%s: %s is unknown' % (path, name)
            else:
                yield from self._check(part, item, path + '.' + name)

    def _propertyNames(self, part, value, path, _):
        for name in value:
            yield from self._check(part, name, path + ' name')

    def _items(self, part, value, path, _):
        for index, item in enumerate(value):
            yield from self._check(part, item, '%s[%d]' % (path, index))

    def _oneOf(self, parts, value, path, _):
        if sum(not list(self._check(part, value, path)) for part in parts) != 1:
            yield '%s: %r is not just one of the alternatives' % (path, value)

    def _pattern(self, pattern, value, path, _):
        if not self._matches(pattern, value):
            yield '%s: %r does not match' % (path, value)

    def _minItems(self, least, value, path, _):
        if len(value) < least:
            yield '%s: only %d items' % (path, len(value))

    def _minimum(self, least, value, path, _):
        if value < least:
            yield '%s: %d is too small' % (path, value)

    def _maximum(self, most, value, path, _):
        if value > most:
            yield '%s: %d is too large' % (path, value)
