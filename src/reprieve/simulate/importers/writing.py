"""The common form as bytes, and as a file that is whole or not there."""

import csv
import gzip
import io
import os
from collections.abc import Iterable
from decimal import Decimal
from pathlib import Path

from reprieve.objects import ReprieveError
from reprieve.simulate.importers.records import Record
from reprieve.simulate.trace import COLUMNS


def common_form(records: Iterable[Record]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for each in records:
        writer.writerow(
            (
                each.name,
                _written(each.submit),
                _written(each.duration),
                each.user,
                each.queue,
                _written(each.pods),
                _written(each.cpu),
                _written(each.memory),
                _written(each.gpu),
                _written(each.hint),
                each.kind,
                each.outcome,
                _written(each.deadline),
            )
        )
    return text.getvalue().encode()


def write_common(records: Iterable[Record], path: str | Path) -> None:
    """Gzipped if the name ends in `.gz`. An old file stays as it is until the new one is whole."""
    target = Path(path)
    content = common_form(records)
    if target.suffix == ".gz":
        content = gzip.compress(content, mtime=0)
    temporary = target.with_name(f".{target.name}.{os.getpid()}.new")
    try:
        try:
            with temporary.open("xb") as handle:
                handle.write(content)
                handle.flush()
                os.fsync(handle.fileno())
            temporary.replace(target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise ReprieveError(f"{target}: {error.strerror or error}") from None


def _written(number: Decimal | int | None) -> str:
    """Without an exponent, and without zeros at the end: equal numbers are equal bytes."""
    if number is None:
        return ""
    text = f"{number:f}" if isinstance(number, Decimal) else str(number)
    return text.rstrip("0").rstrip(".") if "." in text else text
