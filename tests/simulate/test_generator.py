"""Generator files of Kueue with a topology: nodes in domains, and workloads that ask for one of them."""

from pathlib import Path

import msgspec
import pytest

from reprieve.objects import Node, ReprieveError, Topology
from reprieve.simulate import (
    Generator,
    Scene,
    Settings,
    Simulation,
    generated,
    policy,
    read_generator,
    seconds,
)

EXAMPLE = Path(__file__).parents[2] / "examples/40-simulate/topology.yaml"
RACK, HOST = "example.com/rack", "kubernetes.io/hostname"


def generator(*workloads, quota=100, racks=2, nodes=2, cpu=4, **more):
    """One queue; `racks` with so many `nodes`."""
    levels = [
        {"name": "rack", "count": racks, "nodeLabel": RACK},
        {"name": "node", "count": nodes, "nodeLabel": HOST, "capacity": {"cpu": cpu}},
    ]
    sets = [{"count": 1, "creationIntervalMs": 1000, "workloads": [each]} for each in workloads]
    queues = {"className": "cq", "count": 1, "nominalQuota": quota, "workloadsSets": sets}
    document = {
        "topology": {"name": "racks", "levels": levels},
        "resourceFlavor": {"name": "racked", "nodeLabel": "example.com/pool", "topologyName": "racks"},
        "cohorts": [{"className": "c", "count": 1, "queuesSets": [queues]}],
    }
    return msgspec.convert({**document, **more}, Generator)


def gang(name, pods, request=2, constraint="required", level=RACK, **more):
    return {
        "className": name, "runtimeMs": 10_000, "request": request, "podCount": pods,
        "tasConstraint": constraint, "tasLevel": level, **more,
    }  # fmt: skip


def starts(made, **more):
    trace, objects = generated(made)
    run = Simulation(Scene(objects, trace.jobs), trace.jobs, Settings(policy=policy("kep-5710"), **more))
    run.run()
    return {
        run.jobs[index].klass: None if life.first < 0 else seconds(life.first)
        for index, life in enumerate(run.lives.all)
    }


def test_every_place_of_the_topology_is_a_node():
    _, objects = generated(generator(gang("a", 1), racks=3))
    nodes = [each for each in objects if isinstance(each, Node)]
    assert [each.name for each in nodes][:3] == ["node-r0-n0", "node-r0-n1", "node-r1-n0"]
    assert len(nodes) == 6
    assert nodes[2].metadata.labels == {RACK: "rack-1", HOST: "node-r1-n0", "example.com/pool": "tas"}
    assert nodes[0].status.allocatable == {"cpu": "4", "memory": "256Gi", "pods": "110"}
    (topology,) = (each for each in objects if isinstance(each, Topology))
    assert [each.node_label for each in topology.spec.levels] == [RACK, HOST]


def test_a_required_rack_is_waited_for_although_there_is_quota():
    """A rack holds four pods of two cores: two gangs of three have a rack each, the third one waits."""
    found = starts(generator(gang("a", 3), gang("b", 3), gang("c", 3)))
    assert found == {"a": 1, "b": 1, "c": 11}


def test_a_preferred_rack_is_left_when_it_is_full():
    assert starts(generator(*(gang(name, 2, constraint="preferred") for name in "abc"))) == dict.fromkeys(
        "abc", 1
    )
    spread = [gang("a", 3), gang("b", 3), gang("c", 2, constraint="preferred")]
    assert starts(generator(*spread))["c"] == 1
    together = [gang("a", 3), gang("b", 3), gang("c", 2)]
    assert starts(generator(*together))["c"] == 11


def test_a_slice_stays_in_one_rack_and_the_gang_need_not():
    """Six pods do not fit into a rack; slices of two do, slices of six do not."""
    assert starts(generator(gang("a", 6, constraint="balanced", sliceSize=2)))["a"] == 1
    assert starts(generator(gang("a", 6, constraint="balanced", sliceSize=6)))["a"] is None


def test_templates_of_one_set_come_one_after_the_other():
    made = generator(gang("a", 1))
    queues = made.cohorts[0].queues_sets[0]
    both = msgspec.convert(
        {"count": 2, "creationIntervalMs": 100, "workloads": [gang("a", 1), gang("b", 1)]},
        type(queues.workloads_sets[0]),
    )
    queues = msgspec.structs.replace(queues, workloads_sets=(both,))
    cohort = msgspec.structs.replace(made.cohorts[0], queues_sets=(queues,))
    trace, _ = generated(msgspec.structs.replace(made, cohorts=(cohort,)))
    assert [(job.klass, seconds(job.submit)) for job in trace.jobs] == [
        ("a", 0.1), ("b", 0.2), ("a", 0.3), ("b", 0.4)
    ]  # fmt: skip


def test_amounts_are_quantities():
    trace, _ = generated(generator(gang("a", 2, request="500m")))
    assert (trace.jobs[0].cpu, trace.jobs[0].pods) == (500, 2)


def test_the_example_runs_to_its_end():
    trace, objects = read_generator(EXAMPLE)
    run = Simulation(Scene(objects, trace.jobs), trace.jobs, Settings(policy=policy("kep-5710")))
    run.run()
    assert all(life.finish >= 0 for life in run.lives.all)
    assert len(trace.jobs) == 40


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: generator(gang("a", 1, level="zone")), "tasLevel: no level of the topology .* 'zone'"),
        (lambda: generator(gang("a", 1, constraint="hard")), "tasConstraint: must be one of .* is 'hard'"),
        (lambda: generator(gang("a", 1), racks=0), r"topology.levels\[0\].count: must be at least 1, is 0"),
        (lambda: generator(gang("a", 1), racks=10**6), "at most 100,000 nodes"),
        (lambda: generator(gang("a", 1), topology=None), "topologyName: there is no topology 'racks'"),
        (
            lambda: generator(gang("a", 1), resourceFlavor={"name": "f", "topologyName": "racks"}),
            "resourceFlavor.nodeLabel: a flavor with a topology needs one",
        ),
        (lambda: generator(gang("a", 1, request="many")), "request of a: .*many"),
    ],
)
def test_what_could_place_nothing_is_refused_with_field_and_value(made, said):
    with pytest.raises(ReprieveError, match=said):
        generated(made())


def test_devices_of_a_generator_file_are_refused_by_name(tmp_path):
    path = tmp_path / "generator.yaml"
    path.write_text("dra: {devicesPerNode: 8}\n" + EXAMPLE.read_text())
    with pytest.raises(ReprieveError, match=r"generator.yaml: not understood.*dra"):
        read_generator(path)


def queue_set(*counts, name="cq"):
    """Sets of workloads of one class."""
    small = {"className": "small", "runtimeMs": 10, "request": 1}
    sets = [{"count": count, "creationIntervalMs": 100, "workloads": [small]} for count in counts]
    return {"className": name, "count": 1, "nominalQuota": 9, "workloadsSets": sets}


def made_of(*queue_sets):
    cohorts = [{"className": "c", "count": 1, "queuesSets": list(queue_sets)}]
    return msgspec.convert({"cohorts": cohorts}, Generator)


def test_sets_of_one_class_have_jobs_of_their_own():
    """Two jobs of one name would be one to the quota cycle."""
    trace, objects = generated(made_of(queue_set(2, 3)))
    assert len({job.name for job in trace.jobs}) == 5
    run = Simulation(Scene(objects, trace.jobs), trace.jobs, Settings(policy=policy("kep-5710")))
    assert all(fate.finish >= 0 for fate in run.run().fates)


def test_two_queues_of_one_name_are_refused():
    with pytest.raises(ReprieveError, match="two sets of queues have a queue cq-0-0; change a className"):
        generated(made_of(queue_set(1), queue_set(1)))
    assert len(generated(made_of(queue_set(1), queue_set(1, name="other")))[0].jobs) == 2
