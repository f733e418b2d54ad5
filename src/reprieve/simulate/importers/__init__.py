"""Traces of other people in the common form: `reprieve simulate import --from swf jobs.swf --out jobs.csv`.

    records = read_foreign("swf", "jobs.swf")
    write_common(records, "jobs.csv")

records   a job of the common form, and the fields of a row of somebody else's file
tables    the formats that are CSV files, one function each
swf       the Standard Workload Format
dumps     what one's own cluster says: kubectl's lists, the audit log
history   from pods that were there to jobs
reading   from a file to records: all of them or an error with file and line
writing   from records to a file: whole or not at all
"""

from reprieve.simulate.importers.reading import FORMATS, Imported, read_foreign
from reprieve.simulate.importers.writing import common_form, write_common

__all__ = ["FORMATS", "Imported", "common_form", "read_foreign", "write_common"]
