"""SparkApplication: a driver and executors that are not written as pods."""

import math
import re
from typing import Any

import msgspec

from reprieve.jobs import sentences
from reprieve.jobs.paths import Place, at, mapping, number, text
from reprieve.jobs.pod_sets import Places, PodSet, Written
from reprieve.jobs.rows import PodSetRule
from reprieve.objects import Document, InvalidObject, whole_number

_MIB = 1024**2
_JVM_SIZES = {"": 1 / _MIB, "b": 1 / _MIB, "k": 1 / 1024, "m": 1, "g": 1024, "t": 1024**2, "p": 1024**3}
_JVM_SIZE = re.compile(r"(\d+)\s*([bkmgtp]?)b?", re.IGNORECASE)
_LEAST_OVERHEAD = 384
_POD_FIELDS = ("nodeSelector", "affinity", "tolerations", "schedulerName", "priorityClassName", "volumes")

_SETTINGS = {
    "instances": "spark.{}.instances",
    "cores": "spark.{}.cores",
    "coreRequest": "spark.kubernetes.{}.request.cores",
    "memory": "spark.{}.memory",
    "memoryOverhead": "spark.{}.memoryOverhead",
}
"""What Spark's own configuration says in place of a field of a role."""
_NUMBERS = ("instances", "cores")
_UNREAD = re.compile(
    r"spark\.(kubernetes\.((driver\.|executor\.)?node\.selector\..*|(driver|executor)\.podTemplateFile"
    r"|((driver|executor)\.)?scheduler\.name|memoryOverheadFactor)|dynamicAllocation\..*"
    r"|(driver|executor)\.(resource\..*|memoryOverheadFactor)|executor\.pyspark\.memory|memory\.offHeap\..*)"
)
"""Settings that change how many pods there are, what they ask for, or where they may go."""
_SPARK_PLACES = Places(
    node_selector="nodeSelector",
    tolerations="tolerations",
    gates="template.spec.schedulingGates",
    labels="labels",
    annotations="annotations",
)


def spark_pod_sets(root: Place) -> list[PodSet]:
    spec = at(root, "spec")
    dynamic = at(spec, "dynamicAllocation")
    role = _role(spec, "executor")
    executors, asked = number(role, "instances", 1), number(role, "instances", 0)
    if at(dynamic, "enabled").value:
        executors = number(dynamic, "initialExecutors", number(dynamic, "minExecutors", executors))
    workers = _spark_pods(spec, "executor", "{job}-exec-{member}", executors)
    return [
        _spark_pods(spec, "driver", "{job}-driver", 1),
        # As in Kueue: pkg/controller/jobs/sparkapplication/sparkapplication_podset.go, numInitialExecutors.
        msgspec.structs.replace(workers, asked=asked),
    ]


def unread_settings(root: Place) -> list[str]:
    conf = mapping(root, "spec.sparkConf")
    return [sentences.unread_spark_setting(key) for key in conf if _UNREAD.fullmatch(str(key))]


def _role(spec: Place, role: str) -> Place:
    """The part of the driver or the executors; what it does not say, Spark's configuration may."""
    conf, part = mapping(spec, "sparkConf"), at(spec, role)
    stated = mapping(spec, role)
    found: dict[str, Any] = {}
    for field, template in _SETTINGS.items():
        key = template.format(role)
        if stated.get(field) is None and (value := conf.get(key)) is not None:
            found[field] = _whole(key, value) if field in _NUMBERS else str(value)
    return part._replace(value={**stated, **found}) if found else part


def _whole(key: str, value: Any) -> int:
    number = whole_number(str(value))
    if number is None:
        raise InvalidObject(f"spec.sparkConf[{key}]", value, sentences.expected_whole_number(value))
    return number


def _spark_pods(spec: Place, role: str, pod_name: str, count: int) -> PodSet:
    part = _role(spec, role)
    requests: Document = {
        "cpu": text(part, "coreRequest") or str(number(part, "cores", 1)),
        "memory": f"{_memory(spec, part)}Mi",
    }
    limits: Document = {"memory": requests["memory"]}
    if core_limit := text(part, "coreLimit"):
        limits["cpu"] = core_limit
    if device := text(part, "gpu.name"):
        limits[device] = requests[device] = str(number(part, "gpu.quantity", 0))
    base = mapping(part, "template")
    pod = dict(base.get("spec") or {})
    pod |= {
        field: part.value[field]
        for field in _POD_FIELDS
        if isinstance(part.value, dict) and field in part.value
    }
    for field in ("nodeSelector", "tolerations"):
        if at(spec, field).value is not None:
            pod.setdefault(field, at(spec, field).value)
    if name := text(spec, "batchSchedulerOptions.priorityClassName"):
        pod.setdefault("priorityClassName", name)
    container = {
        "name": f"spark-kubernetes-{role}",
        "image": text(part, "image") or text(spec, "image"),
        "resources": {"requests": requests, "limits": limits},
    }
    others = [each for each in pod.get("containers") or () if each.get("name") != container["name"]]
    template = {
        "metadata": {"labels": mapping(part, "labels"), "annotations": mapping(part, "annotations")},
        "spec": {**pod, "containers": [container, *others]},
    }
    rule = PodSetRule(name=role, pod_name=pod_name, labels={"spark-role": role, "spark-app-name": "{job}"})
    return PodSet(
        name=role,
        template=template,
        path=part.path,
        factors=(count,),
        rule=rule,
        written=Written(part.path, places=_SPARK_PLACES),
    )


def _memory(spec: Place, part: Place) -> int:
    """MiB that the pod asks for: the heap and what Spark adds to it."""
    heap = _jvm_size(part, "memory", "1g")
    if at(part, "memoryOverhead").value is not None:
        return heap + _jvm_size(part, "memoryOverhead", "0")
    compiled = text(spec, "type", "Scala") in ("Java", "Scala")
    return heap + max(math.ceil(heap * _share(spec, 0.1 if compiled else 0.4)), _LEAST_OVERHEAD)


def _share(spec: Place, default: float) -> float:
    found = at(spec, "memoryOverheadFactor")
    if found.value is None:
        return default
    try:
        share = float(found.value)
    except (TypeError, ValueError):
        share = -1.0
    if not 0 <= share <= 100:
        raise InvalidObject(found.path, found.value, sentences.expected_share(found.value))
    return share


def _jvm_size(part: Place, path: str, default: str) -> int:
    found = at(part, path)
    written = text(part, path, default)
    match = _JVM_SIZE.fullmatch(written.strip())
    if match is None:
        raise InvalidObject(found.path, written, sentences.expected_size(written))
    return math.ceil(int(match[1]) * _JVM_SIZES[match[2].lower()])
