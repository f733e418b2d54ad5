"""Months of a cluster in a minute: the live scheduler and the live quota cycle in virtual time.

    trace = read_trace("jobs.csv")
    scene = Scene(objects, trace.jobs)                       # typed Nodes, queues, budgets
    run = Simulation(scene, trace.jobs, Settings(policy=policy("kep-5710")))
    metrics = measure(run.run())

jobs, trace            a job; reading jobs from a file in the common form
submitted              jobs from manifests that say when they arrive
importers              traces of other people in the common form
generator, topology    jobs, queues and nodes from Kueue's generator file
scene, pods            the cluster; jobs as pods, pod groups and Workloads
policies               what can be compared
timeline, events       the loop from event to event
engine                 a cluster in it
fleet, manager         several clusters, and the manager that sends them their jobs
scheduling, admission  the scheduler's core and the quota cycle, their decisions carried out at once
lives                  the life of each job: work, checkpoints, what was lost
failures               nodes that fail, drain and return
recorder               why jobs waited and made way, for those who ask afterwards
result, metrics        what came of it, and what it is judged by
scenarios              windows of public traces with clusters of three sizes
assertions, comparing  `--assert`; several configurations on all cores
snapshot               a run that was cut, to be taken up again, or many times
"""

from reprieve.simulate.admission import Admission
from reprieve.simulate.assertions import Checked, check, understood
from reprieve.simulate.comparing import Task, compare, simulate
from reprieve.simulate.engine import Simulation
from reprieve.simulate.events import Event, Events, Kind
from reprieve.simulate.failures import NodeEvent, read_node_events
from reprieve.simulate.fleet import FleetSimulation
from reprieve.simulate.generator import Generator, generated, read_generator
from reprieve.simulate.importers import FORMATS, Imported, common_form, read_foreign, write_common
from reprieve.simulate.jobs import LONGEST, Job, Trace, seconds, ticks
from reprieve.simulate.lives import Stretch
from reprieve.simulate.metrics import Group, Metrics, Spread, measure
from reprieve.simulate.pods import EPOCH, SCHEDULER, JobObjects, instant
from reprieve.simulate.policies import ALGORITHMS, QUEUES, Policy, policy
from reprieve.simulate.recorder import MadeWay, Record, Recorder, Refusals
from reprieve.simulate.result import Fate, Result
from reprieve.simulate.scenarios import SCENARIOS, Scenario, scenario
from reprieve.simulate.scene import Scene
from reprieve.simulate.scheduling import Decided, Host, Scheduling
from reprieve.simulate.snapshot import Copies, resume, snapshot
from reprieve.simulate.submitted import read_submitted
from reprieve.simulate.timeline import Settings
from reprieve.simulate.trace import COLUMNS, TraceError, read_trace
from reprieve.simulate.unread import unread

__all__ = [
    "ALGORITHMS",
    "COLUMNS",
    "EPOCH",
    "FORMATS",
    "LONGEST",
    "QUEUES",
    "SCENARIOS",
    "SCHEDULER",
    "Admission",
    "Checked",
    "Copies",
    "Decided",
    "Event",
    "Events",
    "Fate",
    "FleetSimulation",
    "Generator",
    "Group",
    "Host",
    "Imported",
    "Job",
    "JobObjects",
    "Kind",
    "MadeWay",
    "Metrics",
    "NodeEvent",
    "Policy",
    "Record",
    "Recorder",
    "Refusals",
    "Result",
    "Scenario",
    "Scene",
    "Scheduling",
    "Settings",
    "Simulation",
    "Spread",
    "Stretch",
    "Task",
    "Trace",
    "TraceError",
    "check",
    "common_form",
    "compare",
    "generated",
    "instant",
    "measure",
    "policy",
    "read_foreign",
    "read_generator",
    "read_node_events",
    "read_submitted",
    "read_trace",
    "resume",
    "scenario",
    "seconds",
    "simulate",
    "snapshot",
    "ticks",
    "understood",
    "unread",
    "write_common",
]
