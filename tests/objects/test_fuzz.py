"""Whatever comes in, the answer is a view or an error that names the place; never a crash.

Scaled by REPRIEVE_TEST_SCALE: 1 spoils 4,000 sound documents; 25 is the acceptance run of 100,000.
"""

import io
import json
from random import Random
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from reprieve.config import Configuration, ConfigurationError
from reprieve.objects.admission import admit
from reprieve.objects.decode import decode, encode
from reprieve.objects.documents import scan_documents
from reprieve.objects.errors import InvalidObject, UnreadableInput
from reprieve.objects.kinds import KINDS, kind_key
from reprieve.objects.review import review
from tests.objects.samples import SAMPLES, spoiled
from tests.scale import SCALE, examples
from tests.strategies.dice import Dice, dice
from tests.strategies.objects import anything, pod_groups, pods, wild_documents

CONTEXT = Configuration.load(None).admission_context()
pytestmark = pytest.mark.timeout(max(300, 300 * SCALE))
few = examples(100)
TOGETHER = 10
"""Documents that are spoiled in one example."""


def check_every_way_in(document: dict[str, Any], old: dict[str, Any] | None) -> str:
    """Decoded or refused, admitted or not; what the door lets in can be decoded."""
    admitted, problems = admit(document, CONTEXT, old)
    for problem in problems:
        assert problem.message
        assert str(problem)
    try:
        view = decode(document)
    except InvalidObject as error:
        refused = error.message
        assert refused
        assert problems or kind_key(document) not in KINDS, f"the door lets in what cannot be read: {refused}"
        return "unreadable"
    assert decode(encode(view)) == view
    if problems:
        return "refused"
    decode(admitted)
    return "accepted"


def test_spoiled_documents_are_answered_not_crashed_on() -> None:
    outcomes = {"unreadable": 0, "refused": 0, "accepted": 0}

    @examples(400)
    @given(dice())
    def answered(dice: Dice) -> None:
        for original in dice.sample(SAMPLES, TOGETHER):
            document = spoiled(original, dice)
            outcomes[check_every_way_in(document, original if dice.chance(0.3) else None)] += 1

    answered()
    print(outcomes)
    assert all(outcomes.values())


@few
@given(wild_documents(), st.none() | wild_documents())
def test_wild_documents_are_answered_not_crashed_on(
    document: dict[str, Any], old: dict[str, Any] | None
) -> None:
    check_every_way_in(
        document, old and {**old, "apiVersion": document["apiVersion"], "kind": document["kind"]}
    )


@few
@given(st.randoms(use_true_random=False), st.sampled_from(["yaml", "json"]))
def test_written_down_and_read_back_nothing_raises(random: Random, form: str) -> None:
    documents = [spoiled(random.choice(SAMPLES), random) for _ in range(4)]
    if form == "yaml":
        text = yaml.safe_dump_all(documents)
    else:
        text = json.dumps({"apiVersion": "v1", "kind": "List", "items": documents})
    for finding in review(scan_documents(io.BytesIO(text.encode("utf-8", "replace"))), CONTEXT):
        assert str(finding)


@few
@given(st.randoms(use_true_random=False))
def test_damaged_text_is_unreadable_at_worst(random: Random) -> None:
    data = bytearray(yaml.safe_dump_all(random.sample(SAMPLES, 3)).encode())
    for _ in range(random.randint(1, 8)):
        data[random.randrange(len(data))] = random.choice(b"{}[]:-*&!\"'\n\t #%@\x00\xff|>")
    list(review(scan_documents(io.BytesIO(bytes(data))), CONTEXT))


@few
@given(
    st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass"))
)
def test_random_bytes_are_unreadable_at_worst(data: bytes) -> None:
    assert all(
        found.message for found in scan_documents(io.BytesIO(data)) if isinstance(found, UnreadableInput)
    )


@few
@given(anything(20))
def test_a_wild_configuration_is_loaded_or_refused(value: Any) -> None:
    try:
        Configuration.load(value if isinstance(value, dict) else {"preemption": value})
    except ConfigurationError as error:
        problems = error.problems
        assert problems


@few
@given(pods() | pod_groups())
def test_sound_documents_are_accepted_and_survive_encoding(document: dict[str, Any]) -> None:
    admitted, problems = admit(document, CONTEXT)
    assert problems == []
    view = decode(document)
    assert decode(encode(view)) == view
    again, problems = admit(admitted, CONTEXT, old=admitted)
    assert (again, problems) == (admitted, [])
