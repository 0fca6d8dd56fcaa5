"""Vectors and arrays on the wire, in PostgreSQL's binary formats: no number is written out as text."""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import psycopg
from psycopg.adapt import Buffer, Dumper, Loader
from psycopg.pq import Format
from psycopg.types.numeric import Int8BinaryDumper


class Half(NamedTuple):
    """A unit vector as it is stored: little-endian float16."""

    blob: bytes


class Full(NamedTuple):
    """A query vector in full precision."""

    numbers: npt.NDArray[np.float32]


class Numbers(NamedTuple):
    """A list of numbers as one array: of int16, int32, int64 or float32."""

    array: npt.NDArray[Any]


class VectorTypes(NamedTuple):
    """The numbers that this database gave to pgvector's types, and the schema that they live in."""

    halfvec: int
    vector: int
    schema: str


_ELEMENTS = {"i2": (21, 1005), "i4": (23, 1007), "i8": (20, 1016), "f4": (700, 1021)}
"""By numpy's name for a type: PostgreSQL's number of it and of an array of it."""


class _NumbersDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: Numbers) -> Buffer | None:
        kind = obj.array.dtype.str[1:]
        size = obj.array.dtype.itemsize
        packed = np.empty(len(obj.array), [("size", ">i4"), ("value", f">{kind}")])
        packed["size"], packed["value"] = size, obj.array
        # One dimension without nulls; an empty array has none.
        if not len(obj.array):
            return struct.pack("!iii", 0, 0, _ELEMENTS[kind][0])
        return struct.pack("!iiiii", 1, 0, _ELEMENTS[kind][0], len(obj.array), 1) + packed.tobytes()

    def get_key(self, obj: Numbers, format: Any) -> Any:
        return (self.cls, obj.array.dtype.str[1:])

    def upgrade(self, obj: Numbers, format: Any) -> Dumper:
        made = type(self)(self.cls)
        made.oid = _ELEMENTS[obj.array.dtype.str[1:]][1]
        return made


class _HalfDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: Half) -> Buffer | None:
        swapped = np.frombuffer(obj.blob, "<u2").byteswap()
        return struct.pack("!HH", len(swapped), 0) + bytes(swapped)


class _FullDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: Full) -> Buffer | None:
        return struct.pack("!HH", len(obj.numbers), 0) + obj.numbers.astype(">f4").tobytes()


class _HalfLoader(Loader):
    format = Format.BINARY

    def load(self, data: Buffer) -> bytes:
        return bytes(np.frombuffer(data, "<u2", offset=4).byteswap())


def register(connection: psycopg.Connection[Any], types: VectorTypes) -> None:
    """Teach a connection our types. Every int goes as bigint, so that a statement is prepared once, not per width."""
    adapters = connection.adapters
    adapters.register_dumper(int, Int8BinaryDumper)
    adapters.register_dumper(Numbers, _NumbersDumper)
    adapters.register_dumper(Half, type("HalfDumper", (_HalfDumper,), {"oid": types.halfvec}))
    adapters.register_dumper(Full, type("FullDumper", (_FullDumper,), {"oid": types.vector}))
    adapters.register_loader(types.halfvec, _HalfLoader)
