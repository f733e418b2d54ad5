"""How fast is a dump of a cluster read?

Writes pods as `kubectl get pods -A -o yaml` does and reads them in one process: line by line, as manifests
are read; by the C parser's events, as they were read before and as everything still is that is not written so
plainly; and with PyYAML's own loader.

    python bench/manifests.py [--pods 2000]
"""

import argparse
import io
import json
import sys
from pathlib import Path

import yaml

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.decode import fastest, pod

from reprieve.objects import format_yaml
from reprieve.objects.documents import read_documents
from reprieve.objects.yamlevents import read_events

AT_LEAST = 3


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pods", type=int, default=2_000)
    count = parser.parse_args().pods
    items = [{"apiVersion": "v1", "kind": "Pod", **pod(index)} for index in range(count)]
    listed = {"apiVersion": "v1", "items": items, "kind": "List", "metadata": {"resourceVersion": ""}}
    text = format_yaml([listed], width=1_000_000)
    data = text.encode()
    as_json = json.dumps(listed, indent=4).encode()
    assert [source.document for source in read_documents(io.BytesIO(data))] == items
    ways = {
        "line by line": fastest(lambda: list(read_documents(io.BytesIO(data))), 3),
        "by events": fastest(lambda: list(read_events(text)), 3),
        "PyYAML's CSafeLoader": fastest(lambda: yaml.load(text, yaml.CSafeLoader), 1),
        "the same as JSON": fastest(lambda: list(read_documents(io.BytesIO(as_json))), 3),
    }
    print(f"{count:,} pods, {len(data) / 1e6:.1f} MB of YAML, {len(as_json) / 1e6:.1f} MB of JSON")
    for name, seconds in ways.items():
        print(f"{name:<22}{seconds:7.2f} s  {seconds / count * 1e6:8.1f} us a pod")
    ratio = ways["by events"] / ways["line by line"]
    print(f"{ratio:.1f} times faster than by events (wanted: {AT_LEAST})")
    return 0 if ratio >= AT_LEAST else 1


if __name__ == "__main__":
    sys.exit(main())
