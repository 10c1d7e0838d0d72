"""The record of what is asked: its numbers are declared and checked, and it goes to JSON, to an address and back."""

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, fields
from functools import cache, cached_property
from types import MappingProxyType
from typing import Any, ClassVar, Self

from dpviz.core.checked import check_fields, checked
from dpviz.core.parameters import Parameter, readable, shown

Reader = Callable[[Any], Any]


def part(write: Callable[[Any], Any], read: Reader, *, texts: bool = False, **settings: Any) -> Any:
    """Return a field that JSON has as an object, from which `read` makes it, or also as a text where there are such."""

    def read_object(name: str, value: Any) -> Any:
        if not isinstance(value, dict) and not texts:
            raise ValueError(f"{name} must be a JSON object; got {shown(value)}.")
        return read(dict(value)) if isinstance(value, dict) else value

    return field(metadata={"write": write, "read": read_object}, **settings)


def each_once(name: str, given: object, known: Collection[str], *, fewest: int = 0) -> tuple[str, ...]:
    """Return keys of what is `known`, each once, as they are given; raise a ValueError that says which there are."""
    keys = tuple(given) if isinstance(given, (tuple, list)) and all(isinstance(key, str) for key in given) else None
    if keys is None or len(keys) < fewest or len(set(keys)) < len(keys) or not set(keys) <= set(known):
        some = "at least one" if fewest else "some"
        raise ValueError(f"{name} must be {some} of {', '.join(known)}, each once; got {shown(given)}.")
    return keys


@dataclass(frozen=True)
class DeclaredFields:
    """A record of what is asked: frozen, compared by its fields, of which numbers carry their declarations.

    These are checked one by one; `check` says what must hold between them.
    """

    noun: ClassVar[str] = "record"  # what a sentence calls it
    short: ClassVar[Mapping[str, str]] = MappingProxyType({})  # what an address calls its fields
    indent: ClassVar[int | None] = None  # blanks before each line of its JSON; None for a single line

    def __post_init__(self) -> None:
        check_fields(self, *self.parameters())
        self.check()

    @classmethod
    @cache
    def parameters(cls) -> tuple[Parameter, ...]:
        """Return the declarations of its numbers, in the order of its signature."""
        return tuple(one.metadata["parameter"] for one in fields(cls) if "parameter" in one.metadata)

    def check(self) -> None:
        """Raise a ValueError where the values contradict each other."""

    @classmethod
    @cache
    def numbers(cls) -> Mapping[str, Parameter]:
        """Return the declarations of its numbers by name."""
        return MappingProxyType({one.name: one for one in cls.parameters()})

    @classmethod
    def shared(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return those of the values that are numbers of such a record, by name."""
        return {name: values[name] for name in cls.numbers() if name in values}

    def settings(self) -> dict[str, Any]:
        """Return its numbers by name."""
        return {name: getattr(self, name) for name in self.numbers()}

    def in_symbols(self, digits: int = 6, names: Collection[str] | None = None) -> list[str]:
        """Return each of its numbers, or those of some names, as "n = 100"."""
        chosen = [one for one in self.parameters() if names is None or one.name in names]
        return [f"{one.symbol} = {readable(getattr(self, one.name), digits)}" for one in chosen]

    def told(self, stated: Collection[str] = ()) -> dict[str, Any]:
        """Return the fields that a script must give: those that are not a default, or are `stated`."""
        return {
            one.name: getattr(self, one.name)
            for one in fields(self)
            if getattr(self, one.name) != one.default or one.name in stated
        }

    def written(self) -> dict[str, Any]:
        """Return its fields by name as JSON knows them."""
        found = {one.name: (getattr(self, one.name), one.metadata.get("write")) for one in fields(self) if one.init}
        return {name: write(value) if write else value for name, (value, write) in found.items()}

    def to_json(self) -> str:
        """Return the record as JSON, every digit."""
        return json.dumps(self.written(), ensure_ascii=False, indent=self.indent)

    @classmethod
    @checked()
    def from_json(cls, text: str) -> Self:
        """Return the record that `to_json` wrote."""
        return cls.of(cls._loaded(text))

    @classmethod
    def of(cls, values: Any) -> Self:
        """Return the record with these values by name, as JSON has them."""
        read = {one.name: one.metadata["read"] for one in fields(cls) if "read" in one.metadata}
        return cls(**{name: read[name](name, value) if name in read else value for name, value in values.items()})

    def to_address(self) -> dict[str, str]:
        """Return the record as words by the names that a page's address has, every digit; what is None is left out."""
        return dict(self._words)

    @cached_property
    def _words(self) -> dict[str, str]:
        given = {self.short.get(name, name): value for name, value in self.written().items() if value is not None}
        several = {name: ".".join(value) for name, value in given.items() if isinstance(value, tuple)}
        texts = {name: value for name, value in given.items() if isinstance(value, str)}
        return {name: json.dumps(value) for name, value in given.items()} | several | texts

    @classmethod
    @checked()
    def from_address(cls, words: Mapping[str, str]) -> Self:
        """Return the record that `to_address` wrote."""
        read = cls.readers(words)
        names = {cls.short.get(name, name): name for name in read}
        for word, text in words.items():
            if word not in names or not isinstance(text, str):
                allowed = f"The address of a {cls.noun} holds texts called {', '.join(names)}"
                raise ValueError(f"{allowed}; got {shown(word)} = {shown(text)}.")
        return cls.of({names[word]: read[names[word]](text) for word, text in words.items()})

    @classmethod
    def readers(cls, _words: Mapping[str, str]) -> dict[str, Reader]:
        """Return by name what reads each word; which there are may follow from some of them."""
        found: dict[str, Reader] = {one.name: str for one in fields(cls)}
        found |= {name: one.parse for name, one in cls.numbers().items()}
        found |= {
            one.name: lambda text: [key for key in text.split(".") if key] for one in fields(cls) if one.default == ()
        }
        return found | {one.name: cls._loaded_object for one in fields(cls) if "read" in one.metadata}

    @classmethod
    def _loaded(cls, text: str) -> Any:
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            raise ValueError(f"The {cls.noun} must be JSON; got {shown(text)}.") from None

    @classmethod
    def _loaded_object(cls, text: str) -> Any:
        return cls._loaded(text) if text.startswith("{") else text
