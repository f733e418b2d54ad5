"""A coverage-guided fuzzer for the way from bytes to views: `python -m tests.objects.atheris_target
-runs=100000`.
"""

import contextlib
import io
import sys

import atheris

with atheris.instrument_imports(include=["reprieve.objects"]):
    from reprieve.config import Configuration
    from reprieve.objects.core import Pod
    from reprieve.objects.decode import decode, decode_list
    from reprieve.objects.documents import Source, scan_documents
    from reprieve.objects.errors import ReprieveError
    from reprieve.objects.review import review

CONTEXT = Configuration.load(None).admission_context()


def one_input(data: bytes) -> None:
    found = list(scan_documents(io.BytesIO(data)))
    for finding in review(found, CONTEXT):
        str(finding)
    for each in found:
        if isinstance(each, Source):
            with contextlib.suppress(ReprieveError):
                decode(each.document)
    with contextlib.suppress(ReprieveError):
        decode_list(data, Pod)


if __name__ == "__main__":
    atheris.Setup(sys.argv, one_input)
    atheris.Fuzz()
