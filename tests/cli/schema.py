# SPDX-License-Identifier: Apache-2.0
"""A validator for the part of JSON Schema that docs/schema/ uses.

It is stricter than the standard in one point: a key that the schema does not describe is an
error, so that no output goes undocumented. (Readers of the output must accept unknown keys.)
"""
import functools
import json
import os

TYPES = {
    "object": lambda v: isinstance(v, dict),
    "array": lambda v: isinstance(v, list),
    "string": lambda v: isinstance(v, str),
    "boolean": lambda v: isinstance(v, bool),
    "null": lambda v: v is None,
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
}
KNOWN = {"$schema", "$id", "$defs", "$ref", "title", "description", "type", "const", "enum", "oneOf",
         "properties", "required", "additionalProperties", "items", "minimum", "minItems",
         "maxItems"}


def path_of(name):
    return os.path.join(os.environ["WHYIO_SOURCE"], "docs", "schema", name + ".json")


def is_described(name):
    return os.path.exists(path_of(name))


@functools.lru_cache
def load(name):
    with open(path_of(name), encoding="utf-8") as file:
        return json.load(file)


def check_scalar(value, schema, where):
    if "const" in schema and value != schema["const"]:
        yield f"{where}: {value!r} is not {schema['const']!r}"
    if "enum" in schema and value not in schema["enum"]:
        yield f"{where}: {value!r} is none of {schema['enum']}"
    if "minimum" in schema and value is not None and value < schema["minimum"]:
        yield f"{where}: {value!r} is below {schema['minimum']}"


def check_object(value, schema, where, root):
    properties = schema.get("properties", {})
    for key in schema.get("required", []):
        if key not in value:
            yield f"{where}: '{key}' is missing"
    for key, item in value.items():
        if key in properties:
            yield from check(item, properties[key], f"{where}.{key}", root)
        elif "additionalProperties" in schema:
            yield from check(item, schema["additionalProperties"], f"{where}.{key}", root)
        else:
            yield f"{where}: '{key}' is not described"


def check_array(value, schema, where, root):
    if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
        yield f"{where}: {len(value)} items"
    for i, item in enumerate(value):
        yield from check(item, schema.get("items", {}), f"{where}[{i}]", root)


def check(value, schema, where="$", root=None):
    """Yield one line per fault."""
    root = root or schema
    unknown = set(schema) - KNOWN
    if unknown:
        yield f"{where}: the schema says {sorted(unknown)}, which this validator does not know"
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rsplit("/", 1)[1]]
    if "oneOf" in schema:
        faults = [list(check(value, choice, where, root)) for choice in schema["oneOf"]]
        if sum(not f for f in faults) != 1:
            yield f"{where}: fits not exactly one of the choices: {min(faults, key=len)}"
        return
    types = schema.get("type", list(TYPES))
    types = [types] if isinstance(types, str) else types
    if not any(TYPES[t](value) for t in types):
        yield f"{where}: {value!r} is not of type {types}"
        return
    yield from check_scalar(value, schema, where)
    if isinstance(value, dict):
        yield from check_object(value, schema, where, root)
    elif isinstance(value, list):
        yield from check_array(value, schema, where, root)
