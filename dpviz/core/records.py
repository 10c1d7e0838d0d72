"""Base of frozen dataclasses whose numbers are declared: they validate themselves and are read from JSON and a URL."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any, ClassVar, Self

from dpviz.core.formatting import describe_value, format_number
from dpviz.core.parameters import Parameter, validate_choice, validate_fields

Reader = Callable[[Any], Any]


def declared_parameters(record_type: Any) -> tuple[Parameter, ...]:
    """Declarations of the numbers of a dataclass (`parameters.parameter`), in the order of its signature."""
    return tuple(item.metadata["parameter"] for item in fields(record_type) if "parameter" in item.metadata)


def declared_numbers(record_type: Any) -> dict[str, Parameter]:
    """Declarations of the numbers of a dataclass by name."""
    return {parameter.name: parameter for parameter in declared_parameters(record_type)}


def settings_of(record: Any) -> dict[str, Any]:
    """Numbers of a record by name."""
    return {name: getattr(record, name) for name in declared_numbers(type(record))}


def in_symbols(record: Any, digits: int = 6, names: Collection[str] | None = None) -> list[str]:
    """Numbers of a record as "n = 100".

    Parameters
    ----------
    record : dataclass
    digits : int, optional
    names : collection of str, optional
        All unless given.
    """
    chosen = [number for number in declared_parameters(type(record)) if names is None or number.name in names]
    return [f"{number.symbol} = {format_number(getattr(record, number.name), digits)}" for number in chosen]


def json_field(write: Callable[[Any], Any], read: Reader, *, accepts_text: bool = False, **settings: Any) -> Any:
    """Dataclass field that JSON holds as an object.

    Parameters
    ----------
    write, read : callable
        From the value of the field to that object, and from its dictionary to the value.
    accepts_text : bool, optional
        Whether anything but an object stays as it is.
    **settings
        Of `dataclasses.field`.
    """

    def read_object(name: str, value: Any) -> Any:
        if isinstance(value, dict):
            return read(dict(value))
        if not accepts_text:
            raise ValueError(f"{name} must be a JSON object; got {describe_value(value)}.")
        return value

    return field(metadata={"write": write, "read": read_object}, **settings)


def validate_unique_choices(
    name: str, values: object, allowed: Collection[str], *, min_items: int = 0
) -> tuple[str, ...]:
    """Validate that values are distinct words of those allowed; a ValueError says which there are.

    Parameters
    ----------
    name : str
        Of the argument, in the message.
    values : tuple or list of str
    allowed : collection of str
    min_items : int, optional
    """
    keys = tuple(values) if isinstance(values, (tuple, list)) else (None,)
    is_valid = all(isinstance(key, str) and key in allowed for key in keys) and len(set(keys)) == len(keys) >= min_items
    if not is_valid:
        amount = "at least one" if min_items else "some"
        raise ValueError(f"{name} must be {amount} of {', '.join(allowed)}, each once; got {describe_value(values)}.")
    return keys


def read_record(name: str, types: Mapping[str, type[Any]], key: object, values: object) -> Any:
    """Record of the type that a key names; a ValueError says which types or fields there are.

    Parameters
    ----------
    name : str
        Of the key, in the message.
    types : mapping of str to type
        Dataclasses by key.
    key, values : object
        From outside: the key, and a dictionary of fields.
    """
    validate_choice(name, key, types)
    record_type = types[str(key)]
    names = [item.name for item in fields(record_type) if item.init]
    if not isinstance(values, dict) or not set(values) <= set(names):
        raise ValueError(f"{key} has {', '.join(names)}; got {describe_value(values)}.")
    try:
        return record_type(**values)
    except TypeError:
        raise ValueError(f"{key} needs {', '.join(names)}; got {describe_value(values)}.") from None


@dataclass(frozen=True)
class ParameterRecord:
    """Base of frozen dataclasses whose numbers carry declarations (`parameters.parameter`).

    The numbers are validated one by one, and `check` says what must hold between them.
    """

    noun: ClassVar[str] = "record"  # in sentences
    short: ClassVar[Mapping[str, str]] = MappingProxyType({})  # names of its fields in a URL
    indent: ClassVar[int | None] = None  # of its JSON; None for a single line

    parameters = classmethod(declared_parameters)
    numbers = classmethod(declared_numbers)
    settings = settings_of
    in_symbols = in_symbols

    def __post_init__(self) -> None:
        validate_fields(self, *self.parameters())
        self.check()

    def check(self) -> None:
        """Raise a ValueError if the values contradict each other."""

    def non_default_fields(self, include: Collection[str] = ()) -> dict[str, Any]:
        """Fields that a script must state: those that are not a default, and some that it states anyway."""
        values = {item.name: (getattr(self, item.name), item.default) for item in fields(self)}
        return {name: value for name, (value, default) in values.items() if value != default or name in include}

    def to_dict(self) -> dict[str, Any]:
        """Its fields by name as JSON holds them."""
        values = {}
        for item in fields(self):
            if item.init:
                write = item.metadata.get("write")
                value = getattr(self, item.name)
                values[item.name] = write(value) if write else value
        return values

    @classmethod
    def of(cls, values: Any) -> Self:
        """Record with these fields by name as JSON holds them."""
        readers = {item.name: item.metadata["read"] for item in fields(cls) if "read" in item.metadata}
        return cls(**{name: readers[name](name, value) if name in readers else value for name, value in values.items()})

    def to_json(self) -> str:
        """JSON of the record, with every digit."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=self.indent)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Record that `to_json` wrote; ValueError in a sentence for any other text."""
        return cls.of(cls._load(text))

    def to_address(self) -> dict[str, str]:
        """Words of a URL, with every digit; fields that are None are left out."""
        words = {}
        for name, value in self.to_dict().items():
            if isinstance(value, tuple):
                words[self.short.get(name, name)] = ".".join(value)
            elif value is not None:
                words[self.short.get(name, name)] = value if isinstance(value, str) else json.dumps(value)
        return words

    @classmethod
    def from_address(cls, words: Mapping[str, str]) -> Self:
        """Record that `to_address` wrote; ValueError in a sentence for unknown words."""
        parsers = cls.parsers(words)
        names = {cls.short.get(name, name): name for name in parsers}
        for word, text in words.items():
            if word not in names or not isinstance(text, str):
                allowed = f"The address of a {cls.noun} holds texts called {', '.join(names)}"
                raise ValueError(f"{allowed}; got {describe_value(word)} = {describe_value(text)}.")
        return cls.of({names[word]: parsers[names[word]](text) for word, text in words.items()})

    @classmethod
    def parsers(cls, _words: Mapping[str, str]) -> dict[str, Reader]:
        """Readers of the words of a URL by name; which there are may follow from some of the words."""
        parsers: dict[str, Reader] = {item.name: str for item in fields(cls)}
        for name, parameter in cls.numbers().items():
            parsers[name] = parameter.parse
        for item in fields(cls):
            if item.default == ():
                parsers[item.name] = lambda text: [key for key in text.split(".") if key]
            if "read" in item.metadata:
                parsers[item.name] = lambda text: cls._load(text) if text.startswith("{") else text
        return parsers

    @classmethod
    def _load(cls, text: str) -> Any:
        if not isinstance(text, str):
            raise TypeError(f"text must be text; got {describe_value(text)}.")
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            raise ValueError(f"The {cls.noun} must be JSON; got {describe_value(text)}.") from None
