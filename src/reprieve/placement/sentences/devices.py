"""What devices keep a pod from."""

# Kubernetes' own words: a node's objection.

CANNOT_ALLOCATE = "cannot allocate all claims"
INVALID_POOLS = "invalid resource pools were encountered"
UNAVAILABLE = "resourceclaim not available on the node"
STALE_EXTENDED = "cannot schedule extended resource claim"

# Kubernetes' own words: claims that keep the pod from every node.


def claim_names_nothing(pod: str, name: str) -> str:
    return f'pod "{pod}", spec.resourceClaim "{name}": none of the supported fields are set'


def claim_not_made_yet(pod: str) -> str:
    return f'pod "{pod}": ResourceClaim not created yet'


def claim_not_found(claim: str) -> str:
    return f'could not find ResourceClaim "{claim}"'


def claim_is_being_deleted(name: str) -> str:
    return f'resourceclaim "{name}" is being deleted'


def claim_of_another_pod(claim: str, pod: str) -> str:
    return f"ResourceClaim {claim} was not created for Pod {pod} (Pod is not owner)"


def claim_of_another_group(claim: str, pod: str, group: str) -> str:
    return (
        f"ResourceClaim {claim} was not created for Pod {pod} (neither Pod nor PodGroup {group} is the owner)"
    )


def claim_is_being_allocated(claim: str) -> str:
    return f"resource claim {claim} is in the process of being allocated"


def unknown_request_type(claim: str, request: str) -> str:
    return f"resource claim {claim}, request {request}: unknown request type"


def no_such_class(request: str, device_class: str) -> str:
    return f"request {request}: device class {device_class} does not exist"


def binding_failed(claim: str, reason: str, message: str) -> str:
    return f'device binding failed: claim={claim}, reason={reason}, message="{message}"'


# Kubernetes' own words: attempts that fail. `request` is the name of a request, or of an alternative.


def empty_selector(claim: str, request: str, number: int) -> str:
    text = f"selector #{number}: CEL expression empty (unsupported selector type?)"
    return f"{_request(claim, request)}, {text}"


def no_class_named(claim: str, request: str) -> str:
    return f"{_request(claim, request)}: missing device class name (unsupported request type?)"


def class_not_found(claim: str, request: str, device_class: str) -> str:
    return (
        f"{_request(claim, request)}: could not retrieve device class {device_class}: "
        f'deviceclass.resource.k8s.io "{device_class}" not found'
    )


def unsupported_mode(claim: str, request: str, mode: str) -> str:
    return f"{_request(claim, request)}: unsupported count mode {mode}"


def empty_constraint(claim: str, number: int) -> str:
    return f"claim {claim}, constraint #{number}: empty constraint (unsupported constraint type?)"


def selector_does_not_compile(owner: str, name: str, number: int, error: str) -> str:
    """`owner`: `class` or `claim`."""
    return f"{owner} {name}: selector #{number}: CEL compile error: {error}"


def selector_fails(owner: str, name: str, number: int, device: str, error: str) -> str:
    return f"{owner} {name}: selector #{number} on device {device}: CEL runtime error: {error}"


def too_many_devices(claim: str, devices: int, most: int) -> str:
    return f"claim {claim}: number of requested devices {devices} exceeds the claim limit of {most}"


def pool_is_incomplete(claim: str, request: str, pool: str, *, invalid: bool) -> str:
    state = "invalid" if invalid else "being updated"
    return f"{_request(claim, request)}: asks for all devices, but resource pool {pool} is currently {state}"


def timed_out(node: str) -> str:
    return f"node {node}: timed out trying to allocate devices"


def capacity_cannot_be_checked(claim: str, request: str, device: str, error: str) -> str:
    return f"{_request(claim, request)}: checking capacity for device {device}: {error}"


def constraint_forbids(claim: str, request: str, device: str) -> str:
    return (
        f"{_request(claim, request)}: cannot add device {device} "
        "because a claim constraint would not be satisfied"
    )


def _request(claim: str, request: str) -> str:
    return f"claim {claim}, request {request}"


# Kubernetes' own words: amounts that no device can be measured against.


def negative_capacity(name: str) -> str:
    return f'capacity "{name}": capacity value is negative'


def request_is_too_fine(name: str, request: str) -> str:
    return _not_representable(name, f"request {request} is not a representable milli value")


def request_is_too_large(name: str, request: str) -> str:
    return _not_representable(name, f"request {request} exceeds MaxInt64")


def rounded_request_is_too_large(name: str, request: str, *, thousandths: bool) -> str:
    passed = "the milli-value range" if thousandths else "MaxInt64"
    return _not_representable(name, f"rounding request {request} up to the next step passes {passed}")


def _not_representable(name: str, why: str) -> str:
    return (
        f'capacity "{name}": capacity request cannot be represented in the device\'s range arithmetic: {why}'
    )


# cel-go's own words, or the nearest to them: expressions that do not compile or fail.

NO_SUCH_OVERLOAD = "no such overload"
COST_EXCEEDED = "operation cancelled: actual cost limit exceeded"
NO_INTEGER = "cannot convert value to integer"


def no_bool(type_: str) -> str:
    return f"CEL result of type {type_} could not be converted to bool: type conversion error"


def bad_attribute(name: str, error: str) -> str:
    return f"attribute {name}: {error}"


def no_such_key(key: str) -> str:
    return (
        f"no such key: {key}. consider using CEL optional chaining (.? followed by orValue()) "
        "or guarding the check with has() for optional fields"
    )


def expression_too_long(most: int) -> str:
    return f"too long: may not be more than {most} bytes"


def wrong_result_type(type_: str) -> str:
    return f"must evaluate to bool or the unknown type, not {type_}"


def compilation_failed(error: str) -> str:
    return f"compilation failed: {error}"


def no_version(text: str) -> str:
    return f"parse semantic version: {text!r} is none"


def bad_pattern(error: str) -> str:
    return f"Illegal regex: {error}"


def empty_list(function: str) -> str:
    return f"{function} called on empty list"


def bad_address(text: str, error: str) -> str:
    return f"IP Address {text!r} parse error during conversion from string: {error}"


def bad_network(error: str) -> str:
    return f"network address parse error during conversion from string: {error}"


def unusual_address(text: str) -> str:
    return f"{text!r} is an IPv4 address in IPv6, or has a zone"


def no_network(text: str) -> str:
    return f"{text!r} is no network: an address, a slash and a length are wanted"


# About this installation.

CEL_IS_MISSING = (
    "selectors of devices need the package cel-expr-python, which is not installed: install reprieve "
    "with its dependencies again (in a checkout: make setup)"
)
