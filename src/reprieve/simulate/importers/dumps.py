"""Jobs of one's own cluster: from what kubectl lists, and from the audit log of its API server.

`events`   kubectl get pods,jobs,events -A -o json
`audit`    one audit event of the API server in a line, as its log has them
"""

import json
import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from reprieve.objects import Document, shown, well_known
from reprieve.simulate.importers.history import History, Line
from reprieve.simulate.trace import TraceError

_ITEMS = re.compile(r'"items"\s*:\s*\[')
_BETWEEN = re.compile(r"[\s,]*")
_CREATED_POD = re.compile(r"Created pod: (\S+)")
_RESTARTED = "will be restarted"
"""What a kubelet says of a container that it kills in a pod that goes on."""
_DRY_RUN = "dryRun="
ENDED = {"Succeeded": "completed", "Failed": "failed"}
_UNREADABLE = "this is no JSON that can be read"


class _Part(msgspec.Struct, rename="camel"):
    """What must have its shape in order to be read below; times are looked at where they are used."""


class _Meta(_Part):
    name: str | None = None
    namespace: str | None = None
    labels: dict[str, str] | None = None


class _State(_Part):
    terminated: dict[str, Any] | None = None


class _Container(_Part):
    state: _State | None = None


class _Condition(_Part):
    type: str | None = None


class _Status(_Part):
    phase: str | None = None
    container_statuses: list[_Container] | None = None
    init_container_statuses: list[_Container] | None = None
    conditions: list[_Condition] | None = None


class _Object(_Part):
    """A Pod or a Job."""

    metadata: _Meta | None = None
    status: _Status | None = None


class _About(_Part):
    kind: str | None = None
    namespace: str | None = None
    name: str | None = None
    resource: str | None = None
    subresource: str | None = None


class _Event(_Part, rename={"about": "involvedObject"}):
    about: _About | None = None
    regarding: _About | None = None
    reason: str | None = None


class _Answer(_Part):
    code: int | None = None


class _AuditEvent(_Part, rename={"about": "objectRef", "status": "responseStatus"}):
    about: _About | None = None
    status: _Answer | None = None
    verb: str | None = None


_SHAPES: dict[object, type[_Part]] = {"Pod": _Object, "Job": _Object, "Event": _Event}


def _check(line: Line, document: Document, shape: type[_Part]) -> None:
    try:
        msgspec.convert(document, shape)
    except msgspec.ValidationError as error:
        raise line.wrong(f"this is no object of a cluster: {error}") from None


def _parsed(text: str, line: Line) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        broken = Line(line.where, line.number + error.lineno - 1)
        raise broken.wrong(f"this is no JSON ({error.msg}); was the file cut off here?") from None
    except RecursionError:
        raise line.wrong(f"{_UNREADABLE}: it is nested too deeply") from None
    except ValueError as error:  # a number of thousands of digits
        raise line.wrong(f"{_UNREADABLE}: {error}") from None


def read_dump(text: str, where: str) -> History:
    """Objects of a cluster as a list in JSON."""
    history = History()
    for line, item in _items(text, where):
        kind = item.get("kind")
        if isinstance(kind, str) and kind in _SHAPES:
            _check(line, item, _SHAPES[kind])
        if kind == "Pod":
            _pod(history, line, item)
        elif kind == "Event":
            _event(history, line, item)
        elif kind == "Job":
            _job(history, line, item)
        else:
            history.others[kind if isinstance(kind, str) else "objects without a kind"] += 1
    return history


def _items(text: str, where: str) -> Iterator[tuple[Line, Document]]:
    """The items of the list one by one, so that each knows its line."""
    whole = _parsed(text, Line(where, 1))
    found = _ITEMS.search(text)
    if found is None or not isinstance(whole, dict) or not isinstance(whole.get("items"), list):
        hint = "make one with kubectl get pods,jobs,events -A -o json"
        raise TraceError(f"{where}:1: this is no list of objects in JSON; {hint}")
    decoder, at, counted_to, number = json.JSONDecoder(), found.end(), 0, 1
    while True:
        at = _end_of(_BETWEEN, text, at)
        number += text.count("\n", counted_to, at)
        counted_to = at
        if text[at] == "]":
            return
        item, at = decoder.raw_decode(text, at)
        line = Line(where, number)
        if not isinstance(item, dict):
            raise line.wrong(f"an object was expected, not {shown(json.dumps(item))}")
        yield line, item


def _end_of(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found is not None else at


def _key(line: Line, document: Document) -> str:
    meta = document.get("metadata") or {}
    if not meta.get("name"):
        raise line.wrong("metadata.name is missing")
    return f"{meta.get('namespace') or 'default'}/{meta['name']}"


def _pod(history: History, line: Line, item: Document) -> None:
    status = item.get("status") or {}
    seen = history.pod(line, _key(line, item))
    seen.line = line
    seen.created = line.moment("metadata.creationTimestamp", item["metadata"].get("creationTimestamp"))
    history.describe(seen, item)
    if status.get("startTime"):
        seen.started = line.moment("status.startTime", status["startTime"])
    if outcome := ENDED.get(status.get("phase", "")):
        seen.ended, seen.outcome = max(_ends(line, status), default=None), outcome
    elif not item["metadata"].get("deletionTimestamp"):
        seen.stay()


def _ends(line: Line, status: Document) -> Iterator[Any]:
    field = "status.containerStatuses.state.terminated.finishedAt"
    containers = *(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())
    for each in containers:
        if text := ((each.get("state") or {}).get("terminated") or {}).get("finishedAt"):
            yield line.moment(field, text)
    for condition in status.get("conditions") or ():
        if condition.get("type") == "DisruptionTarget" and condition.get("lastTransitionTime"):
            yield line.moment("status.conditions.lastTransitionTime", condition["lastTransitionTime"])


def _job(history: History, line: Line, item: Document) -> None:
    key, meta = _key(line, item), item["metadata"]
    queue = (meta.get("labels") or {}).get(well_known.QUEUE_LABEL, "")
    named = f"{key.partition('/')[0]}/{queue}" if queue else ""
    made = line.moment("metadata.creationTimestamp", meta.get("creationTimestamp"))
    history.submitted(("Job", key), made, named)
    status = item.get("status") or {}
    if status.get("completionTime"):
        history.ended(
            ("Job", key), line.moment("status.completionTime", status["completionTime"]), "completed"
        )


def _event(history: History, line: Line, item: Document) -> None:
    about = item.get("involvedObject") or item.get("regarding") or {}
    stamp = item.get("eventTime") or item.get("firstTimestamp") or item.get("deprecatedFirstTimestamp")
    key = f"{about.get('namespace') or 'default'}/{about.get('name', '')}"
    reason, kind = item.get("reason"), about.get("kind")
    message = str(item.get("message") or item.get("note") or "")
    if kind == "Pod" and reason == "Scheduled":
        seen = history.pod(line, key)
        seen.started = seen.started or line.moment("eventTime", stamp)
        seen.created = seen.created or seen.started
    elif kind == "Pod" and reason in ("Killing", "Preempted") and _RESTARTED not in message:
        seen = history.pod(line, key)
        moment = line.moment("eventTime", stamp)
        seen.created = seen.created or moment
        seen.end(moment, reason.lower())
    elif kind == "Job" and reason == "SuccessfulCreate":
        found = _CREATED_POD.search(message)
        if found is not None:
            moment = line.moment("eventTime", stamp)
            history.submitted(("Job", key), moment, "")
            pod = history.pod(line, f"{key.partition('/')[0]}/{found[1]}")
            pod.unit, pod.created = ("Job", key), min(pod.created or moment, moment)
    elif kind == "Job" and reason == "Completed":
        history.ended(("Job", key), line.moment("eventTime", stamp), "completed")


class _Happened(NamedTuple):
    """What an audit event says that was done to a pod or a job."""

    moment: datetime
    line: Line
    verb: str | None
    resource: str
    part: str
    key: str
    held: Document
    """The object, as far as the log has it."""


def read_audit(text: str, where: str) -> History:
    found: list[_Happened] = []
    for number, content in enumerate(text.split("\n"), start=1):
        if not content.strip():
            continue
        line = Line(where, number)
        event = _parsed(content, line)
        if not isinstance(event, dict) or "auditID" not in event:
            raise line.wrong("this is no audit event: auditID is missing")
        if (happened := _happened(line, event)) is not None:
            found.append(happened)
    history = History()
    # Logs of several servers may stand one after the other.
    for each in sorted(found, key=lambda each: each.moment):
        if each.resource == "jobs":
            _job_request(history, each)
        else:
            _pod_request(history, each)
    return history


def _happened(line: Line, event: Document) -> _Happened | None:
    """None if it was refused, only tried, or about something else."""
    _check(line, event, _AuditEvent)
    about, code = event.get("objectRef") or {}, (event.get("responseStatus") or {}).get("code") or 200
    if event.get("stage") != "ResponseComplete" or code >= 300 or _DRY_RUN in str(event.get("requestURI")):
        return None
    resource, part = about.get("resource"), about.get("subresource") or ""
    # What is sent with a patch may be a list of steps, which says nothing by itself.
    sent = (event.get("responseObject"), event.get("requestObject"))
    held: Document = next((each for each in sent if isinstance(each, dict) and each), {})
    if resource in ("pods", "jobs"):
        _check(line, held, _Object)
    name = (held.get("metadata") or {}).get("name") or about.get("name")
    if resource not in ("pods", "jobs") or not name:
        return None
    if part and resource == "pods":
        name = about.get("name") or name
    moment = line.moment("requestReceivedTimestamp", event.get("requestReceivedTimestamp"))
    key = f"{about.get('namespace') or 'default'}/{name}"
    return _Happened(moment, line, event.get("verb"), resource, part, key, held)


def _job_request(history: History, found: _Happened) -> None:
    if (found.verb, found.part) == ("create", ""):
        queue = ((found.held.get("metadata") or {}).get("labels") or {}).get(well_known.QUEUE_LABEL, "")
        named = f"{found.key.partition('/')[0]}/{queue}" if queue else ""
        history.made(("Job", found.key))
        history.submitted(history.called(("Job", found.key)), found.moment, named)


def _pod_request(history: History, found: _Happened) -> None:
    moment, verb, part, held = found.moment, found.verb, found.part, found.held
    if (verb, part) == ("create", ""):
        history.made(("Pod", found.key))
    seen = history.pod(found.line, found.key)
    if (verb, part) == ("create", ""):
        seen.created = seen.created or moment
        if "spec" in held:
            history.describe(seen, held)
    elif (verb, part) == ("create", "binding"):
        seen.started = seen.started or moment
    elif part == "status" and (outcome := ENDED.get((held.get("status") or {}).get("phase", ""))):
        seen.ended, seen.outcome = seen.ended or moment, seen.outcome or outcome
    elif (verb, part) == ("delete", "") and seen.ended is None:
        seen.ended, seen.outcome = moment, "deleted"
    seen.created = seen.created or moment
