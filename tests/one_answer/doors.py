"""Every command as a door to one answer: what each says about the same documents, in the same few words."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from click.testing import CliRunner, Result

import reprieve
from reprieve.cli import main
from tests.builders import Document

NOW = "2026-11-18T12:00:00Z"
STARTS, PREEMPTS, PARTLY, NO, INVALID = "starts", "preempts", "partly", "no", "invalid"


class Answer(NamedTuple):
    verdict: str
    victims: frozenset[str] = frozenset()
    """Pods, `namespace/name`."""
    said: str = ""
    """Its first sentence, for people who look at a difference."""
    data: Any = None

    @property
    def whole(self) -> bool:
        """All of it starts now, by itself or after a preemption."""
        return self.verdict in (STARTS, PREEMPTS)


def write(documents: Sequence[Document], folder: Path) -> Path:
    path = folder / "world.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": list(documents)}))
    return path


def run(*arguments: str) -> Result:
    result = CliRunner().invoke(main, [*arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise AssertionError(f"{arguments}: {result.output}") from result.exception
    return result


def planned(path: Path, target: str) -> Answer:
    result = run("plan", "-f", str(path), "--for", target, "--now", NOW, "-o", "json")
    if result.exit_code == 2:
        return Answer(INVALID, said=result.stderr)
    data = json.loads(result.stdout)
    words = {"scheduled": STARTS, "preempts": PREEMPTS, "partial": PARTLY}
    parts = data.get("plans", [data])
    # Of a job that is suspended, the plan says what it would preempt once it starts.
    happens = data["outcome"] != "gated"
    victims = frozenset(each["pod"] for part in parts for each in part["victims"] if happens)
    answer = Answer(words.get(data["outcome"], NO), victims, " ".join(data["reasons"]), data)
    assert result.exit_code == (0 if answer.whole else 1)
    return answer


def forecast(path: Path, target: str) -> Answer:
    result = run("when", target, "-f", str(path), "--now", NOW, "--futures", "9", "-o", "json")
    if result.exit_code == 2:
        return Answer(INVALID, said=result.stderr)
    data = json.loads(result.stdout)
    victims = frozenset(each.removeprefix("Pod/") for each in data["victims"])
    verdict = {"now": PREEMPTS if victims else STARTS, "partly": PARTLY}.get(data["outcome"], NO)
    starts = data["outcome"] in ("now", "later", "runs") or (
        data["outcome"] == "partly" and (data.get("whole") or {}).get("median") is not None
    )
    assert result.exit_code == (0 if starts else 1)
    return Answer(verdict, victims, data["sentence"], data)


def admitted(path: Path, target: str) -> str:
    """`all`, `some` or `none` of its workloads have quota; empty where it asks for none, or is invalid."""
    result = run("admit", "-f", str(path), "--now", NOW, "-o", "json")
    if result.exit_code == 2:
        return ""
    data = json.loads(result.stdout)
    own = {key for key, who in data.get("jobs", {}).items() if who.split(",")[0] == target}
    have = own & data["admitted"].keys()
    return "" if not own else "all" if have == own else "some" if have else "none"


def explained(path: Path, target: str) -> Any:
    kind, _, name = target.partition("/")
    result = run("explain", f"{kind.lower()}/{name}", "-f", str(path), "-o", "json")
    return json.loads(result.stdout) if result.exit_code != 2 else None


def differences(documents: Sequence[Document], target: str, folder: Path) -> list[str]:
    """What the commands say differently about the target, a line each."""
    return [*_differences(write(documents, folder), documents, target)]


def _differences(path: Path, documents: Sequence[Document], target: str) -> Iterator[str]:
    plan, when = planned(path, target), forecast(path, target)
    if (plan.verdict, plan.victims) != (when.verdict, when.victims):
        yield f"plan: {plan[:3]}; when: {when[:3]}"
    if INVALID in (plan.verdict, when.verdict):
        return
    quota = admitted(path, target)
    if (plan.whole and quota in ("some", "none")) or (plan.verdict == PARTLY and quota == "none"):
        yield f"plan: {plan[:3]}; admit: {quota} of its workloads have quota"
    library: Any = reprieve.plan(documents, target, now=NOW)
    if (library.outcome, library.placements) != (plan.data["outcome"], _placements(plan.data)):
        yield f"plan: {plan[:3]}; the library: {library.outcome}, {library.placements}"
    # What asks for no quota is planned without queues; a forecast reads them for those that do.
    ignored = [
        {each["kind"] for each in answer.data.get("ignored", ()) if "kueue" not in each["apiVersion"]}
        for answer in (plan, when)
    ]
    if ignored[0] != ignored[1]:
        yield f"plan ignores {ignored[0]}, when ignores {ignored[1]}"
    yield from _about_explanation(plan, path, target)


def _placements(data: Any) -> dict[str, str]:
    return {pod: node for part in data.get("plans", [data]) for pod, node in part["placements"].items()}


def _about_explanation(plan: Answer, path: Path, target: str) -> Iterator[str]:
    """Only pods and groups have one before a controller has seen them."""
    if not target.startswith(("Pod/", "PodGroup/")):
        return
    found = explained(path, target)
    fits = any("fits now" in line for line in found["wouldHelp"])
    if fits != (plan.verdict == STARTS):
        yield f"plan: {plan[:3]}; explain: {found['wouldHelp']}"
    ahead = (found.get("when") or {}).get("outcome")
    if (ahead == "now") != plan.whole:
        yield f"plan: {plan[:3]}; explain looks ahead: {found.get('when')}"
