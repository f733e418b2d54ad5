"""Numbers in annotations are text, and anybody may write them: `str.isdigit` likes "²", which no `int` reads,
and `int` refuses what has thousands of digits. Neither may stop a loop that works for everybody.
"""

from typing import Any

import pytest

from reprieve.objects import NodeTemplate, TemplateError
from reprieve.server.controllers.budgets import scaled
from reprieve.server.fake_nodes import Habits
from tests.server.rig import running

ABSURD = ("²", "٣²", "9" * 5000, "1_0", " 7 ", "-1")
NODE = "n=1:cpu=64,memory=64Gi,pods=100"


def annotated(name: str, **annotations: str) -> dict[str, Any]:
    spec = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "annotations": annotations},
        "spec": spec,
    }


@pytest.mark.parametrize("number", ABSURD)
@pytest.mark.parametrize("annotation", ["batch.kubernetes.io/job-completion-index", "reprieve.dev/exit-code"])
async def test_a_pod_with_an_absurd_number_runs_and_keeps_nobody_else_from_running(
    annotation: str, number: str
) -> None:
    async with running([NODE], Habits(run_for=20.0)) as rig:
        await rig.create("pods", annotated("odd", **{annotation: number}), annotated("plain"))
        for name in ("odd", "plain"):
            await rig.api.bind(name, "default", "n-0")
        await rig.advance(5)
        assert rig.phases() == ["Running", "Running"]
        await rig.advance(30)
        assert rig.get("pods", "plain")["status"]["phase"] == "Succeeded"
        assert rig.get("pods", "odd")["status"]["phase"] in ("Succeeded", "Failed")


@pytest.mark.parametrize("number", ["²%", f"{'9' * 5000}%", f"000000001{'0' * 5000}%", "1_0%"])
def test_an_absurd_share_of_pods_is_none(number: str) -> None:
    assert scaled(number, 10) == 0


@pytest.mark.parametrize("number", ["²", "9" * 5000])
@pytest.mark.parametrize("spec", ["n={}:cpu=1", "n=1:cpu=1;devices=gpu:{}:model=a", "n=1:cpu=1;racks={}"])
def test_an_absurd_number_of_nodes_is_refused_with_a_sentence(spec: str, number: str) -> None:
    with pytest.raises(TemplateError):
        NodeTemplate.parse(spec.format(number))
