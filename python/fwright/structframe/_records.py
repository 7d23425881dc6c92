"""Messages as objects with attributes: one dataclass for each message of a schema."""

from __future__ import annotations

import dataclasses
import keyword
from typing import Any

SCALARS = {"bool": bool, "float": float, "double": float}


class Records:
    """The dataclasses of a schema, made when they are first asked for."""

    def __init__(self, messages: dict[str, dict[str, Any]]) -> None:
        self._messages = messages
        self._types: dict[str, type[Any]] = {}

    def type_of(self, name: str) -> type[Any]:
        """The dataclass of a message."""
        made = self._types.get(name)
        if made is None:
            described = self._messages[name]
            names = [item["name"] for item in (*described["fields"], *described["oneofs"])]
            fields = [(attribute(name), Any, dataclasses.field(default=None)) for name in names]
            namespace = {"__doc__": described["docs"] or f"A message {name}.", "_message": name, "_names": tuple(names)}
            made = dataclasses.make_dataclass(name.replace(".", "_"), fields, namespace=namespace, slots=True)
            self._types[name] = made
        return made

    def record(self, name: str, values: dict[str, Any]) -> Any:
        """The values of a message as its dataclass; messages in it become theirs."""
        described = self._messages[name]
        made = {attribute(field["name"]): self._field(field, values[field["name"]]) for field in described["fields"]}
        for oneof in described["oneofs"]:
            made[attribute(oneof["name"])] = self._oneof(oneof, values[oneof["name"]])
        return self.type_of(name)(**made)

    def _field(self, field: dict[str, Any], value: Any) -> Any:
        if field["kind"] != "message":
            return value
        if field["count"] is not None:
            return [self.record(field["type"], item) for item in value]
        return self.record(field["type"], value)

    def _oneof(self, oneof: dict[str, Any], value: Any) -> Any:
        if not isinstance(value, dict) or "which" not in value:
            return value
        member = next(member for member in oneof["members"] if member["name"] == value["which"])
        held = self.record(member["type"], value["value"]) if member["kind"] == "message" else value["value"]
        return {"which": value["which"], "value": held}


def attribute(name: str) -> str:
    """A name that can stand after a dot: reserved words get an underscore."""
    return f"{name}_" if keyword.iskeyword(name) or name.startswith("_") else name


def values_of(value: Any) -> Any:
    """Records, wherever they are inside a value, as dicts; fields that are ``None`` are left to their defaults."""
    names = getattr(type(value), "_names", None)
    if names is not None:
        found = {name: getattr(value, attribute(name)) for name in names}
        return {name: values_of(item) for name, item in found.items() if item is not None}
    if isinstance(value, dict):
        return {name: values_of(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [values_of(item) for item in value]
    return value
