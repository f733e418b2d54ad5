"""Claims and volumes: sizes that nothing can have."""

from reprieve.objects.quantity import QuantityError, exact
from reprieve.objects.validation.checks import At, Problems


def claim(new: At) -> Problems:
    requests = new.field("spec", "resources", "requests")
    return _positive([place for name, place in requests.members() if name == "storage"], "spec.resources")


def volume(new: At) -> Problems:
    return _positive([place for _, place in new.field("spec", "capacity").members()], "spec.capacity")


def _positive(places: list[At], path: str) -> Problems:
    for place in places:
        try:
            size = exact(place.value)
        except (QuantityError, ValueError, TypeError):
            continue  # its type is complained about elsewhere
        if size <= 0:
            named = At(place.value, f"{path}{place.path[place.path.rindex('[') :]}")
            yield named.problem("must be greater than zero")
