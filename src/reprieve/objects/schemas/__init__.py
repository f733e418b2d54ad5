"""The shapes of the built-in kinds, written once: which fields exist, and how lists and maps merge.

The YAML files of this folder, one for each version of a group, hold one line for each field: `type flags |
description`. What they say equals what a kube-apiserver 1.38 says of itself (tests/objects/test_facts.py).

    type    string integer int32 int64 number boolean time microtime quantity bytes intOrString any, `[T]` a
            list, `{T}` a map, `{}` an object without fields, `Name` a type of the same file, `file.Name` one
            of another; `!`: required
    flags   set, map=KEY,KEY=X  list type of server-side apply (without either a list is atomic);
                                X: default of KEY
            atomic, granular    a map or struct that has one owner as a whole, or one for each field
            enum=A,B            the values that a string (of the list, of the map) may have; _ is a space
            merge, merge=KEY    strategic merge patch merges the list (by KEY); without it, replaces it
            retainKeys, replace other patch strategies
            @4, @4?, @2.7       number of the field in protobuf; ?: its zero counts as set, as that of
                                a required field does; 2.7: field 7 of the message inlined as field 2

Server-side apply, strategic merge patch, field validation, `reprieve validate` and OpenAPI all read the same
`SchemaNode` tree.
"""

from reprieve.objects.schemas.checks import drop_unknown, unknown_fields, wrong_types
from reprieve.objects.schemas.files import is_namespaced, known_kinds
from reprieve.objects.schemas.quantities import spell_quantities
from reprieve.objects.schemas.tree import (
    ANYTHING,
    SchemaNode,
    builtin_schema,
    custom_schema,
    message,
    metadata,
)

__all__ = [
    "ANYTHING",
    "SchemaNode",
    "builtin_schema",
    "custom_schema",
    "drop_unknown",
    "is_namespaced",
    "known_kinds",
    "message",
    "metadata",
    "spell_quantities",
    "unknown_fields",
    "wrong_types",
]
