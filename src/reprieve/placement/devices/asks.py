"""What claims ask for, made ready for the search: requests and subrequests with their classes."""

from typing import NamedTuple

from reprieve.cluster import DeviceTable
from reprieve.objects import DeviceAsk, DeviceRequest, ResourceClaim, devices
from reprieve.placement.devices.cel import Kind, SelectorError, matches
from reprieve.placement.sentences import devices as sentences

MOST_RESULTS = 32
"""Devices in the allocation of one claim."""


class AllocationError(Exception):
    """Not a refusal: the whole attempt ends with it, even where other nodes would do."""


class Ask:
    """A request without alternatives, or one alternative of a request."""

    __slots__ = ("_class", "_known", "admin", "all", "base", "claim", "count", "name", "spec", "sub")

    def __init__(self, claim: ResourceClaim, base: str, spec: DeviceAsk, table: DeviceTable) -> None:
        self.claim = claim.key
        self.base = base
        self.spec = spec
        self.sub = spec.name if isinstance(spec, devices.DeviceSubRequest) else ""
        self.name = f"{base}/{self.sub}" if self.sub else base
        """As results call it."""
        self.admin = isinstance(spec, devices.ExactDeviceRequest) and bool(spec.admin_access)
        self.all = spec.allocation_mode == devices.ALL
        self.count = spec.count
        self._class = table.classes.get(spec.device_class_name)
        self._known: dict[Kind, bool] = {}
        self._check()

    def _check(self) -> None:
        where = self.claim, self.sub or self.base
        for number, selector in enumerate(self.spec.selectors):
            if selector.cel is None:
                raise AllocationError(sentences.empty_selector(*where, number))
        if not self.spec.device_class_name:
            raise AllocationError(sentences.no_class_named(*where))
        if self._class is None:
            raise AllocationError(sentences.class_not_found(*where, self.spec.device_class_name))
        if not self.all and self.spec.allocation_mode not in ("", devices.EXACT_COUNT):
            raise AllocationError(sentences.unsupported_mode(*where, self.spec.allocation_mode))

    def selects(self, kind: Kind, device: tuple[str, str, str]) -> bool:
        """Whether class and request want devices of this kind. An expression that fails ends the attempt."""
        found = self._known.get(kind)
        if found is None:
            cls = self._class
            assert cls is not None, "checked when the request was read"
            found = self._known[kind] = self._hold(
                cls.spec.selectors, ("class", cls.name), kind, device
            ) and self._hold(self.spec.selectors, ("claim", self.claim), kind, device)
        return found

    def _hold(
        self,
        selectors: tuple[devices.DeviceSelector, ...],
        whose: tuple[str, str],
        kind: Kind,
        device: tuple[str, str, str],
    ) -> bool:
        for number, selector in enumerate(selectors):
            try:
                if selector.cel is not None and not matches(selector.cel.expression, kind):
                    return False
            except SelectorError as error:
                if error.stage == "compile":
                    text = sentences.selector_does_not_compile(*whose, number, str(error))
                else:
                    text = sentences.selector_fails(*whose, number, "/".join(device), str(error))
                raise AllocationError(text) from None
        return True


class ClaimAsk(NamedTuple):
    """A claim that wants devices."""

    claim: ResourceClaim
    requests: tuple[tuple[Ask, ...], ...]
    """For each request its alternatives, most wanted first; most have one."""

    @property
    def prioritised(self) -> bool:
        """Whether there is a choice that is scored."""
        return any(request.first_available for request in self.claim.spec.devices.requests)


def ask_of(claim: ResourceClaim, table: DeviceTable) -> ClaimAsk:
    """Raises `AllocationError` for what cannot be understood."""
    for number, constraint in enumerate(claim.spec.devices.constraints):
        if constraint.match_attribute is None and constraint.distinct_attribute is None:
            raise AllocationError(sentences.empty_constraint(claim.key, number))
    return ClaimAsk(
        claim, tuple(_alternatives(claim, request, table) for request in claim.spec.devices.requests)
    )


def _alternatives(claim: ResourceClaim, request: DeviceRequest, table: DeviceTable) -> tuple[Ask, ...]:
    if request.first_available:
        return tuple(Ask(claim, request.name, each, table) for each in request.first_available)
    assert request.exactly is not None, "looked at before nodes are"
    return (Ask(claim, request.name, request.exactly, table),)
