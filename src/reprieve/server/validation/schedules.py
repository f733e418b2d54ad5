"""CronJobs: a schedule and a time zone that can be read."""

from reprieve.objects import Document
from reprieve.server.documents import at
from reprieve.server.errors import Cause, invalid_value, required
from reprieve.server.schedules import Schedule, ScheduleError, zone_named


def validate_cron_job(new: Document, old: Document | None) -> list[Cause]:
    """What was stored before is left alone."""
    causes = []
    schedule, zone = at(new, "spec", "schedule"), at(new, "spec", "timeZone")
    if not schedule:
        return [required("spec.schedule")]
    if schedule != at(old, "spec", "schedule"):
        try:
            Schedule.parse(schedule)
        except ScheduleError as error:
            causes.append(invalid_value("spec.schedule", schedule, str(error)))
    if zone is not None and zone != at(old, "spec", "timeZone"):
        try:
            zone_named(zone)
        except ScheduleError as error:
            causes.append(invalid_value("spec.timeZone", zone, str(error)))
    return causes
