"""With all run times known, the forecast is what the simulator does from then on, to the microsecond."""

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from reprieve.config import Configuration
from reprieve.forecast import when_all
from reprieve.objects import Reference, parse_time
from reprieve.simulate import EPOCH, Scene, Settings, Simulation, policy
from tests.forecast.cuts import NAMESPACE, as_documents, now
from tests.scale import examples
from tests.simulate.runs import gpu_nodes, queue, queues, workloads

ALGORITHMS = st.sampled_from(("kubernetes", "kep-5710", "minimal-cost"))
LOWER = {"preemption": {"withinClusterQueue": "LowerPriority"}}


def compare(jobs, objects, algorithm, steps):
    """The forecast for all that waits at a moment after the last arrival, against the rest of the run.

    No pauses after a refusal: how often somebody was refused before the cut is not in the cluster.
    """
    patient = {"scheduler": {"initialBackoff": "0s", "maxBackoff": "0s"}}
    made = policy(algorithm, Configuration.load(patient))
    jobs = [replace(each, submit=each.submit // 20) for each in jobs]  # a long queue
    run = Simulation(Scene(objects, jobs), jobs, Settings(policy=made, checkpoint=0))
    while run._arrivals and run.step():
        pass
    for _ in range(steps):
        run.step()
    over = [index for index, life in enumerate(run.lives.all) if life.finish >= 0]
    others = {*over, *run.too_large, *run.lives.running}
    waiting = [index for index in range(len(jobs)) if index not in others]
    if not waiting:
        return
    documents, moment = as_documents(run, announced=True), now(run)
    begun = {index: sum(each.job == index for each in run.lives.stretches) for index in waiting}
    targets = [Reference("Job", NAMESPACE, jobs[index].name) for index in waiting]
    answers = when_all(documents, targets, made.config, moment)
    result = run.run()
    cut = (parse_time(moment) - EPOCH).total_seconds()
    for index, answer in zip(waiting, answers, strict=True):
        later = [each.start for each in result.stretches if each.job == index][begun[index] :]
        start = None if answer.start is None else answer.start.median
        found = None if start is None else round((cut + start) * 1e6)
        assert found == (later[0] if later else None), answer.sentence


@examples(40)
@given(workloads(most=16), st.integers(1, 2), ALGORITHMS, st.integers(0, 10))
def test_on_nodes_it_starts_when_the_simulator_starts_it(jobs, nodes, algorithm, steps):
    compare(jobs, gpu_nodes(nodes), algorithm, steps)


@examples(40)
@given(workloads(most=16), st.lists(st.sampled_from("ab"), min_size=16, max_size=16), st.integers(0, 10))
def test_in_queues_it_gets_quota_when_the_simulator_gives_it(jobs, names, steps):
    jobs = [replace(each, queue=name) for each, name in zip(jobs, names, strict=False)]
    team = queues(queue("a", 6, **LOWER), queue("b", 4, **LOWER, cohortName="all"))
    compare(jobs, team, "kep-5710", steps)


@examples(40)
@given(workloads(most=16), st.lists(st.sampled_from("ab"), min_size=16, max_size=16), ALGORITHMS)
def test_with_quota_and_nodes_it_starts_when_the_simulator_starts_it(jobs, names, algorithm):
    jobs = [replace(each, queue=name, pods=1) for each, name in zip(jobs, names, strict=False)]
    team = queues(queue("a", 6, **LOWER), queue("b", 4, **LOWER, cohortName="all"))
    compare(jobs, [*team, *gpu_nodes(1)], algorithm, 0)
