"""What a real API server is told to refuse by the rules (CEL) in the custom resources."""

from typing import Any

import pytest
from cel_expr_python import cel

from reprieve.manifests.crds import _RULES
from reprieve.objects import strays, well_known

FOLDER = well_known.KUBECONFIG_FOLDER


@pytest.mark.parametrize(
    ("kubeconfig", "holds"),
    [
        ({"location": "a-secret"}, True),
        ({"location": "a-secret", "locationType": "Secret"}, True),
        ({"location": f"{FOLDER}w", "locationType": "Path"}, True),
        ({"location": "/etc/passwd", "locationType": "Path"}, False),
        ({"location": f"{FOLDER}../../passwd", "locationType": "Path"}, False),
        ({"location": f"{FOLDER}a/../../../passwd", "locationType": "Path"}, False),
    ],
)
def test_the_path_of_a_kubeconfig_stays_in_its_folder(kubeconfig: dict[str, Any], holds: bool) -> None:
    """The same paths that the manager itself refuses."""
    (rule,) = _RULES["KubeConfig"]
    environment = cel.NewEnv(variables={"self": cel.Type.Map(cel.Type.STRING, cel.Type.DYN)})
    answer = environment.compile(rule["rule"]).eval(data={"self": kubeconfig})
    assert answer.plain_value() is holds
    if kubeconfig.get("locationType") == "Path":
        assert strays(kubeconfig["location"]) is not holds
