# SPDX-License-Identifier: MIT
"""The declarations of a C++ file, by libclang, which clang-19 brings along: no package of its own is needed.

    for cursor in parse("all.cpp", ["-std=c++20"]): print(cursor.kind, cursor.name, cursor.file, cursor.line)
"""

import ctypes
import subprocess
from ctypes import POINTER, Structure, byref, c_char_p, c_int, c_uint, c_void_p

LIBRARIES = ("libclang-19.so.19", "libclang-19.so.1", "libclang.so.19", "libclang.so")
SKIP_FUNCTION_BODIES = 0x40

# CXCursorKind of clang-c/Index.h.
KINDS = {
    1: "unexposed",
    2: "struct",
    3: "union",
    4: "class",
    5: "enum",
    6: "field",
    7: "enumerator",
    8: "function",
    9: "variable",
    20: "typedef",
    21: "method",
    22: "namespace",
    23: "linkage",
    24: "constructor",
    25: "destructor",
    26: "conversion",
    30: "function template",
    31: "class template",
    32: "partial specialization",
    35: "using",
    36: "alias",
    601: "alias template",
    603: "friend",
    604: "concept",
}
ACCESS = {1: "public", 2: "protected", 3: "private"}


class _String(Structure):
    _fields_ = [("data", c_void_p), ("flags", c_uint)]


class _Cursor(Structure):
    _fields_ = [("kind", c_int), ("xdata", c_int), ("data", c_void_p * 3)]


class _Location(Structure):
    _fields_ = [("data", c_void_p * 2), ("offset", c_uint)]


class _Range(Structure):
    _fields_ = [("data", c_void_p * 2), ("begin", c_uint), ("end", c_uint)]


_VISITOR = ctypes.CFUNCTYPE(c_int, _Cursor, _Cursor, c_void_p)


def _load():
    for name in LIBRARIES:
        try:
            lib = ctypes.CDLL(name)
            break
        except OSError:
            continue
    else:
        raise SystemExit(f"weft: there is no libclang ({LIBRARIES[0]}), which is part of clang-19")
    for name, result, arguments in (
        ("createIndex", c_void_p, [c_int, c_int]),
        ("parseTranslationUnit", c_void_p, [c_void_p, c_char_p, POINTER(c_char_p), c_int, c_void_p, c_uint, c_uint]),
        ("getTranslationUnitCursor", _Cursor, [c_void_p]),
        ("visitChildren", c_uint, [_Cursor, _VISITOR, c_void_p]),
        ("getCursorSpelling", _String, [_Cursor]),
        ("getFileName", _String, [c_void_p]),
        ("getDiagnosticSpelling", _String, [c_void_p]),
        ("getCString", c_char_p, [_String]),
        ("disposeString", None, [_String]),
        ("getCursorSemanticParent", _Cursor, [_Cursor]),
        ("getCursorLexicalParent", _Cursor, [_Cursor]),
        ("getCursorLocation", _Location, [_Cursor]),
        ("getCursorExtent", _Range, [_Cursor]),
        ("getRangeStart", _Location, [_Range]),
        ("getRangeEnd", _Location, [_Range]),
        ("getFileLocation", None, [_Location, POINTER(c_void_p), POINTER(c_uint), POINTER(c_uint), POINTER(c_uint)]),
        ("getCXXAccessSpecifier", c_int, [_Cursor]),
        ("isCursorDefinition", c_uint, [_Cursor]),
        ("getNumDiagnostics", c_uint, [c_void_p]),
        ("getDiagnostic", c_void_p, [c_void_p, c_uint]),
        ("getDiagnosticSeverity", c_int, [c_void_p]),
    ):
        function = getattr(lib, "clang_" + name)
        function.restype, function.argtypes = result, arguments
    return lib


_lib = _load()


def _text(string):
    text = (_lib.clang_getCString(string) or b"").decode()
    _lib.clang_disposeString(string)
    return text


def _place(location):
    file, line, column, offset = c_void_p(), c_uint(), c_uint(), c_uint()
    _lib.clang_getFileLocation(location, byref(file), byref(line), byref(column), byref(offset))
    return file, line.value, offset.value


class Cursor:
    """A declaration; `begin`, `end` and `at` (where its name stands) are offsets in bytes into `file`."""

    def __init__(self, cursor):
        self._cursor = cursor
        self.kind = KINDS.get(cursor.kind, "other")
        self.name = _text(_lib.clang_getCursorSpelling(cursor))
        file, self.line, self.at = _place(_lib.clang_getCursorLocation(cursor))
        self.file = _text(_lib.clang_getFileName(file)) if file else ""

    def extent(self):
        extent = _lib.clang_getCursorExtent(self._cursor)
        return _place(_lib.clang_getRangeStart(extent))[2], _place(_lib.clang_getRangeEnd(extent))[2]

    @property
    def access(self):
        return ACCESS.get(_lib.clang_getCXXAccessSpecifier(self._cursor), "public")

    @property
    def is_definition(self):
        return bool(_lib.clang_isCursorDefinition(self._cursor))

    def parent(self):
        """The namespace or class that it belongs to, wherever it is written."""
        return Cursor(_lib.clang_getCursorSemanticParent(self._cursor))

    def children(self):
        found = []

        def visit(child, _, __):
            found.append(_Cursor.from_buffer_copy(child))
            return 1  # go on, not deeper

        _lib.clang_visitChildren(self._cursor, _VISITOR(visit), None)
        return [Cursor(c) for c in found]


def parse(path, flags):
    """The cursor of the whole file.  Exits with clang's messages if it does not compile."""
    resources = subprocess.run(["clang++-19", "-print-resource-dir"], check=True, capture_output=True, text=True)
    arguments = [*flags, "-resource-dir", resources.stdout.strip()]
    array = (c_char_p * len(arguments))(*(a.encode() for a in arguments))
    index = _lib.clang_createIndex(0, 0)
    unit = _lib.clang_parseTranslationUnit(
        index, str(path).encode(), array, len(arguments), None, 0, SKIP_FUNCTION_BODIES
    )
    if not unit:
        raise SystemExit(f"weft: libclang cannot read {path}")
    diagnostics = [_lib.clang_getDiagnostic(unit, i) for i in range(_lib.clang_getNumDiagnostics(unit))]
    errors = [_text(_lib.clang_getDiagnosticSpelling(d)) for d in diagnostics if _lib.clang_getDiagnosticSeverity(d) > 2]
    if errors:
        raise SystemExit("\n".join(errors[:20]))
    return Cursor(_lib.clang_getTranslationUnitCursor(unit))
