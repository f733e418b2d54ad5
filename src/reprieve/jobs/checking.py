"""What is wrong with the pods of a job, told with the paths of the manifest that the user wrote."""

from collections.abc import Iterable

from reprieve.jobs.kinds import JobKinds
from reprieve.jobs.reading import pod_sets
from reprieve.objects import Context, Document, InvalidObject, Problem, pod_problems


def template_problems(
    document: Document, kinds: JobKinds, context: Context, others: Iterable[Document] = ()
) -> list[Problem] | None:
    """What an API server would say once the job's controller makes its pods; None for other kinds."""
    if kinds.find(document) is None:
        return None
    try:
        sets = pod_sets(document, kinds, others)
    except InvalidObject as error:
        return [Problem(error.path, error.value, error.message)]
    return [
        problem
        for each in sets
        for problem in pod_problems(each.template["spec"], f"{each.path}.spec", context)
    ]
