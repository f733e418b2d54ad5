"""Events: what kube-apiserver refuses. The newer API asks for more, and there only a series may change."""

from reprieve.objects import Document
from reprieve.server.documents import at
from reprieve.server.errors import Cause, invalid_value, required

_TYPES = ("Normal", "Warning")
_NEEDED = {"reportingComponent": "reportingController", "reportingInstance": "reportingInstance",
           "action": "action", "reason": "reason"}  # fmt: skip
"""Field as it is stored, and as the newer API calls it."""
_STAYS = {**_NEEDED, "eventTime": "eventTime", "message": "note", "involvedObject": "regarding"}


def validate_event(new: Document, old: Document | None) -> list[Cause]:
    """`eventTime` tells an event of the newer API, in whatever form it is stored."""
    namespace = at(new, "metadata", "namespace")
    involved = at(new, "involvedObject", "namespace")
    causes = []
    if involved and involved != namespace:
        causes.append(invalid_value("involvedObject.namespace", involved, "does not match event.namespace"))
    if new.get("eventTime") is None:
        return causes
    causes += [required(shown) for stored, shown in _NEEDED.items() if not new.get(stored)]
    if new.get("type") not in _TYPES:
        causes.append(invalid_value("type", new.get("type"), "must be Normal or Warning"))
    if old is not None and old.get("eventTime") is not None:
        causes += [
            invalid_value(shown, new.get(stored), "field is immutable")
            for stored, shown in _STAYS.items()
            if new.get(stored) != old.get(stored)
        ]
    return causes
