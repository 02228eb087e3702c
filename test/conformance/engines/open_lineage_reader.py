"""Reads events of OpenLineage, a line each, into the client's own classes, and prints for each its fault as JSON text, or null.

The classes are made of OpenLineage's JSON schemas. A member that they do not have, one that is missing, or one of another
type is a fault, and so is an event that the client would send differently.
"""

import importlib
import json
import re
import sys
import typing

import attr
from openlineage.client import event_v2, facet_v2
from openlineage.client.generated import base
from openlineage.client.serde import Serde

MODULES = "openlineage.client.generated."
FIXED = ("_producer", "_schemaURL", "producer", "schemaURL")


def facet_class(facet):
    """The class that the URL of a facet's schema names."""
    url = facet["_schemaURL"]
    name = url.rsplit("/", 1)[1]
    module = re.sub(r"(?<!^)(?=[A-Z])", "_", name.removesuffix("Facet")).lower()
    found = getattr(importlib.import_module(MODULES + module), name)
    if found._get_schema() != url:
        raise ValueError(f"expected {found._get_schema()}, got {url}")
    return found


def read(kind, value):
    """A value as a type says that it is."""
    if typing.get_origin(kind) is typing.Union or type(kind).__name__ == "UnionType":
        if value is None:
            return None
        kind = next(each for each in typing.get_args(kind) if each is not type(None))
    if typing.get_origin(kind) is list:
        return [read(typing.get_args(kind)[0], each) for each in value]
    if typing.get_origin(kind) is dict:
        each = typing.get_args(kind)[1]
        return {name: read(each, member) for name, member in value.items()}
    if isinstance(kind, type) and issubclass(kind, facet_v2.BaseFacet):
        kind = facet_class(value)
    if attr.has(kind):
        names = {**vars(typing), **vars(base), **vars(sys.modules[kind.__module__])}
        types = typing.get_type_hints(kind, names)
        known = {each.name: types[each.name] for each in attr.fields(kind)}
        given = {name: read(known[name], member) for name, member in value.items() if name not in FIXED}
        made = kind(**{name.lstrip("_"): member for name, member in given.items()})
        for name in FIXED[:3:2]:
            if name in value:
                setattr(made, name, value[name])
        return made
    if isinstance(kind, type) and issubclass(kind, event_v2.RunState):
        return kind(value)
    if not isinstance(value, kind):
        raise TypeError(f"expected {kind.__name__}, got {value!r}")
    return value


def filled(value):
    """A value without the members that are empty, which the client adds."""
    if isinstance(value, list):
        return [filled(each) for each in value]
    if not isinstance(value, dict):
        return value
    return {name: filled(each) for name, each in value.items() if each not in ({}, [], None)}


for line in sys.stdin:
    try:
        event = json.loads(line)
        sent = filled(json.loads(Serde.to_json(read(event_v2.RunEvent, event))))
        print("null" if sent == filled(event) else json.dumps(f"expected {sent}, got {event}"))
    except Exception as fault:  # whatever the client objects to
        print(json.dumps(f"{type(fault).__name__}: {fault}"))
