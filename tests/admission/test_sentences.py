"""The text of every sentence of this room, once. Other tests name the sentence and its values."""

import pytest

from reprieve.admission import sentences
from tests.catalogues import without_a_row

ROWS = [
    (
        sentences.requests_from_limit_ranges(["LimitRange/ml/a"], ["Pod/ml/p", "Pod/ml/q"]),
        "Note: LimitRange/ml/a gives requests to containers without: Pod/ml/p, Pod/ml/q.",
    ),
    (
        sentences.refused_by_a_server("Pod/ml/p", "maximum cpu usage per Pod is 2, but limit is 4"),
        "The API server does not create Pod/ml/p: maximum cpu usage per Pod is 2, but limit is 4.",
    ),
    (
        sentences.pods_are_refused([("Pod/ml/p", "too much"), ("Pod/ml/q", "too little")]),
        "Warning: the API server does not create Pod/ml/p (too much), Pod/ml/q (too little).",
    ),
    (
        sentences.runtime_classes_are_missing([("kata", "Pod/ml/p")]),
        "Warning: runtime classes that are not among the objects; their overhead is not counted: "
        "kata (Pod/ml/p).",
    ),
    (
        sentences.claim_templates_are_missing([("ResourceClaimTemplate/ml/gpu", "Pod/ml/p")]),
        "Warning: claims are missing, for the templates to make them from are not among the objects: "
        "ResourceClaimTemplate/ml/gpu (Pod/ml/p).",
    ),
    (
        sentences.volumes_are_made(["PersistentVolumeClaim/ml/a"]),
        "Note: PersistentVolumeClaim/ml/a gets its volume at once (volumeBindingMode Immediate), reachable "
        "from every node.",
    ),
    (
        sentences.volumes_are_made(["a", "b"]),
        "Note: a, b get their volumes at once (volumeBindingMode Immediate), reachable from every node.",
    ),
]


@pytest.mark.parametrize(("said", "text"), ROWS)
def test_the_sentence_reads(said: str, text: str) -> None:
    assert said == text


def test_every_sentence_has_a_row() -> None:
    assert not without_a_row(sentences, __file__)
