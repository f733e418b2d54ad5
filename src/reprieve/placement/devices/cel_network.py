"""IP addresses and networks inside CEL, as Kubernetes has them.

Like quantities they travel as bytes: `i` and the address, `n` and the network as it was written, host bits
and all. Types are checked before, in an environment where both are types of their own (`cel.py`).
"""

import ipaddress
from collections.abc import Sequence
from typing import Any

from reprieve.placement.sentences import devices as sentences

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Interface = ipaddress.IPv4Interface | ipaddress.IPv6Interface
NOT_GLOBAL = ("0.0.0.0", "255.255.255.255")


def _parsed(text: str) -> Address:
    found = ipaddress.ip_address(text)
    if isinstance(found, ipaddress.IPv6Address) and (found.ipv4_mapped is not None or found.scope_id):
        raise ValueError(sentences.unusual_address(text))
    return found


def _network(text: str) -> Interface:
    address, slash, length = text.partition("/")
    if not slash or not length.isdecimal() or (len(length) > 1 and length[0] == "0"):
        raise ValueError(sentences.no_network(text))
    _parsed(address)
    return ipaddress.ip_interface(text)


def ip(text: str) -> bytes:
    try:
        return b"i" + str(_parsed(text)).encode()
    except ValueError as wrong:
        raise ValueError(sentences.bad_address(text, str(wrong))) from None


def is_ip(text: str) -> bool:
    try:
        _parsed(text)
    except ValueError:
        return False
    return True


def is_canonical(text: str) -> bool:
    return ip(text)[1:].decode() == text


def cidr(text: str) -> bytes:
    try:
        return b"n" + str(_network(text)).encode()
    except ValueError as wrong:
        raise ValueError(sentences.bad_network(str(wrong))) from None


def is_cidr(text: str) -> bool:
    try:
        _network(text)
    except ValueError:
        return False
    return True


def _address(value: bytes | str) -> Address:
    if isinstance(value, str):
        value = ip(value)
    if value[:1] != b"i":
        raise ValueError(sentences.NO_SUCH_OVERLOAD)
    return ipaddress.ip_address(value[1:].decode())


def _interface(value: bytes | str) -> Interface:
    if isinstance(value, str):
        value = cidr(value)
    if value[:1] != b"n":
        raise ValueError(sentences.NO_SUCH_OVERLOAD)
    return ipaddress.ip_interface(value[1:].decode())


def family(value: bytes) -> int:
    return _address(value).version


def is_unspecified(value: bytes) -> bool:
    return _address(value).is_unspecified


def is_loopback(value: bytes) -> bool:
    return _address(value).is_loopback


def is_link_local_multicast(value: bytes) -> bool:
    address = _address(value)
    if isinstance(address, ipaddress.IPv4Address):
        return address in ipaddress.IPv4Network("224.0.0.0/24")
    return address.packed[0] == 0xFF and address.packed[1] & 0x0F == 0x02


def is_link_local_unicast(value: bytes) -> bool:
    return _address(value).is_link_local


def is_global_unicast(value: bytes) -> bool:
    """Everything that is meant for one host elsewhere, private or not."""
    address = _address(value)
    if str(address) in NOT_GLOBAL:
        return False
    special = address.is_unspecified or address.is_loopback or address.is_multicast
    return not (special or address.is_link_local)


def contains_ip(value: bytes, other: bytes | str) -> bool:
    address = _address(other)
    network = _interface(value).network
    return address.version == network.version and address in network


def contains_cidr(value: bytes, other: bytes | str) -> bool:
    network, inner = _interface(value).network, _interface(other).network
    if network.version != inner.version:
        return False
    return network.prefixlen <= inner.prefixlen and inner.network_address in network


def host(value: bytes) -> bytes:
    return b"i" + str(_interface(value).ip).encode()


def masked(value: bytes) -> bytes:
    return b"n" + str(_interface(value).network).encode()


def prefix_length(value: bytes) -> int:
    return _interface(value).network.prefixlen


def functions(t: Any, address: Any, network: Any) -> dict[str, list[tuple[Any, Sequence[Any], bool, Any]]]:
    """By name, each with its overloads: (result, parameters, member, what it does)."""
    asked = {
        "isUnspecified": is_unspecified,
        "isLoopback": is_loopback,
        "isLinkLocalMulticast": is_link_local_multicast,
        "isLinkLocalUnicast": is_link_local_unicast,
        "isGlobalUnicast": is_global_unicast,
    }
    return {
        "ip": [(address, [t.STRING], False, ip), (address, [network], True, host)],
        "isIP": [(t.BOOL, [t.STRING], False, is_ip)],
        "ip.isCanonical": [(t.BOOL, [t.STRING], False, is_canonical)],
        "family": [(t.INT, [address], True, family)],
        **{name: [(t.BOOL, [address], True, does)] for name, does in asked.items()},
        "cidr": [(network, [t.STRING], False, cidr)],
        "isCIDR": [(t.BOOL, [t.STRING], False, is_cidr)],
        "containsIP": [(t.BOOL, [network, each], True, contains_ip) for each in (t.STRING, address)],
        "containsCIDR": [(t.BOOL, [network, each], True, contains_cidr) for each in (t.STRING, network)],
        "masked": [(network, [network], True, masked)],
        "prefixLength": [(t.INT, [network], True, prefix_length)],
    }
