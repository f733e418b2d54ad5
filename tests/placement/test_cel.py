"""Selectors: what CEL expressions say of a device, and the words of their errors."""

import re
import sys

import pytest

from reprieve.objects import Device, ReprieveError, devices
from reprieve.placement.devices.cel import LONGEST_EXPRESSION, SelectorError, kind_of, matches
from reprieve.placement.sentences import devices as sentences

DRIVER = "gpu.example.com"
DEVICE = Device(
    name="d0",
    attributes={
        "model": devices.DeviceAttribute(string="H100"),
        "index": devices.DeviceAttribute(int_value=2),
        "healthy": devices.DeviceAttribute(bool_value=True),
        "version": devices.DeviceAttribute(version="1.10.0-rc.1"),
        "other.example.com/zone": devices.DeviceAttribute(string="a"),
    },
    capacity={"memory": devices.DeviceCapacity(value="80Gi"), "share": devices.DeviceCapacity(value="1500m")},
)
OWN = f'device.attributes["{DRIVER}"]'
CAPACITY = f'device.capacity["{DRIVER}"]'

HOLDS = [
    f'device.driver == "{DRIVER}" && {OWN}.model == "H100"',
    f"{OWN}.healthy",
    f"{OWN}.index * 2 + 1 >= 5",
    'device.attributes["other.example.com"].zone == "a"',
    "!device.allowMultipleAllocations",
    f'{OWN}.?nope.orValue("no") == "no"',
    f"cel.bind(a, {OWN}, a.index == 2 && a.healthy)",
    "cel.bind(d, device, d.driver.startsWith('gpu'))",
    # A domain that nothing uses is empty, and is not in the map.
    '!has(device.attributes["nope.example.com"].x)',
    '!("nope.example.com" in device.attributes)',
    'device.attributes["nope.example.com"].?x.orValue(1) == 1',
    # Errors that the other side absorbs.
    f'{OWN}.nope == "x" || {OWN}.index >= 0',
    f'!({OWN}.nope == "x" && false)',
    # Unlike types are unequal.
    f"!({OWN}.model == 3)",
    # Addresses and networks.
    'isIP("10.0.0.1") && !isIP("10.0.0.01") && !isIP("::ffff:1.2.3.4") && !isIP("fe80::1%eth0")',
    'ip("10.0.0.1") == ip("10.0.0.1") && ip("10.0.0.1").family() == 4 && ip("::1").family() == 6',
    'ip.isCanonical("2001:db8::1") && !ip.isCanonical("2001:DB8::0001")',
    'ip("127.0.0.1").isLoopback() && ip("0.0.0.0").isUnspecified() && ip("fe80::1").isLinkLocalUnicast()',
    'ip("224.0.0.1").isLinkLocalMulticast() && ip("10.0.0.1").isGlobalUnicast()',
    '!ip("255.255.255.255").isGlobalUnicast() && !ip("224.0.0.1").isGlobalUnicast()',
    'cidr("10.0.0.0/8").containsIP("10.1.2.3") && !cidr("10.0.0.0/8").containsIP(ip("::1"))',
    'cidr("10.0.0.0/8").containsCIDR("10.1.0.0/16") && !cidr("10.1.0.0/16").containsCIDR("10.0.0.0/8")',
    'cidr("10.1.2.3/8").masked() == cidr("10.0.0.0/8") && cidr("10.1.2.3/8").ip() == ip("10.1.2.3")',
    'cidr("::/64").prefixLength() == 64 && isCIDR("10.0.0.0/8") && !isCIDR("10.0.0.0") && !isCIDR("::/129")',
    # Quantities.
    f'{CAPACITY}.memory == quantity("81920Mi")',
    f'{CAPACITY}.memory.compareTo(quantity("40Gi")) > 0',
    f'{CAPACITY}.memory.isGreaterThan(quantity("40Gi")) && {CAPACITY}.memory.isLessThan(quantity("1Ti"))',
    f'{CAPACITY}.memory.add(quantity("1Gi")).sub(1).isInteger()',
    f"{CAPACITY}.share.asApproximateFloat() == 1.5 && !{CAPACITY}.share.isInteger()",
    'quantity("3").asInteger() == 3 && sign(quantity("-1")) == -1 && !isQuantity("ten")',
    # Versions: a pre-release comes before its release, and numbers are no texts.
    f'{OWN}.version.compareTo(semver("1.9.9")) > 0 && {OWN}.version.isLessThan(semver("1.10.0"))',
    f'{OWN}.version == semver("1.10.0-rc.1") && !({OWN}.version == "1.10.0-rc.1")',
    'semver("1.0.0-rc.2").isLessThan(semver("1.0.0-rc.10"))',
    'semver("1.0.0-9").isLessThan(semver("1.0.0-a"))',
    f"{OWN}.version.major() == 1 && {OWN}.version.minor() == 10 && {OWN}.version.patch() == 0",
    'semver("v1.02", true) == semver("1.2.0") && !isSemver("1.2") && isSemver("v1", true)',
    # Lists, sets and texts.
    "[1, 2, 3].sum() == 6 && [1, 2].isSorted() && [3, 1].min() == 1 && [3, 1].max() == 3",
    "sets.contains([1, 2], [1]) && sets.intersects([1], [1, 2]) && sets.equivalent([1, 2], [2, 1])",
    "!sets.equivalent([1, 2], [1]) && !sets.equivalent([1], [1, 2])",
    f'{OWN}.model.find("[0-9]+") == "100" && "a1b2".findAll("[0-9]") == ["1", "2"]',
    f'{OWN}.model.lowerAscii() == "h100" && {OWN}.model.matches("^H[0-9]+$")',
]


@pytest.mark.parametrize("expression", HOLDS)
def test_an_expression_holds_for_the_device(expression: str) -> None:
    assert matches(expression, kind_of(DRIVER, DEVICE))


_TEN = "[1,2,3,4,5,6,7,8,9,10]"
_LONG_LOOP = (
    f"{_TEN}.all(a, {_TEN}.all(b, {_TEN}.all(c, {_TEN}.all(d, {_TEN}.all(e, a + b + c + d + e > 0)))))"
)
FAILS = [
    (f'{OWN}.nope == "x"', "runtime", sentences.no_such_key("nope")),
    ('device.attributes["nope.example.com"].x == 1', "runtime", sentences.no_such_key("x")),
    (f"{OWN}.model > 3", "runtime", sentences.NO_SUCH_OVERLOAD),
    (f"{OWN}.model", "runtime", sentences.no_bool("string")),
    ("device.driver", "compile", sentences.wrong_result_type("string")),
    ("device.nope == 1", "compile", sentences.compilation_failed("")),
    ("device.driver ==", "compile", sentences.compilation_failed("")),
    (f'{CAPACITY}.memory == "80Gi"', "compile", "found no matching overload for '_==_'"),
    (f'{CAPACITY}.memory < quantity("1")', "compile", "found no matching overload for '_<_'"),
    ('quantity("ten").isInteger()', "runtime", "is not a quantity"),
    (f"{CAPACITY}.share.asInteger() == 1", "runtime", sentences.NO_INTEGER),
    (f"{OWN}.version.isInteger()", "runtime", sentences.NO_SUCH_OVERLOAD),
    ("true " + "|| true " * 2000, "compile", sentences.expression_too_long(LONGEST_EXPRESSION)),
    (_LONG_LOOP, "runtime", sentences.COST_EXCEEDED),
]


@pytest.mark.parametrize(("expression", "stage", "text"), FAILS)
def test_a_wrong_expression_fails_in_kube_schedulers_words(expression: str, stage: str, text: str) -> None:
    with pytest.raises(SelectorError) as failed:
        matches(expression, kind_of(DRIVER, DEVICE))
    assert failed.value.stage == stage
    assert text in str(failed.value)


def test_a_version_that_is_none_fails() -> None:
    device = Device(name="d", attributes={"v": devices.DeviceAttribute(version="one")})
    with pytest.raises(SelectorError) as failed:
        matches("true", kind_of(DRIVER, device))
    assert str(failed.value) == sentences.bad_attribute("v", sentences.no_version("one"))


def test_without_the_library_a_sentence_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cel_expr_python", None)
    with pytest.raises(ReprieveError, match=re.escape(sentences.CEL_IS_MISSING)):
        matches('device.driver == "asked for the first time"', kind_of(DRIVER, DEVICE))
