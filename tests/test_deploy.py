"""The files in deploy/ are well formed, ask for no more rights than they need, and hold no secret.

No container runs here. A compose file is held against the schema of the Compose Specification, and the Kubernetes
manifests against the schemas of their kinds from Kubernetes 1.31, which lie in tests/data.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from yamllint import linter
from yamllint.config import YamlLintConfig

DEPLOY = Path(__file__).resolve().parent.parent / "deploy"
COMPOSE = DEPLOY / "compose.yaml"
FILES = sorted(DEPLOY.rglob("*.yaml"))
STYLE = YamlLintConfig("extends: default\nrules:\n  line-length: {max: 120}\n")
NAME = {"app.kubernetes.io/name": "commonplace-postgres"}


def manifests() -> list[dict[str, Any]]:
    return [
        document
        for path in sorted((DEPLOY / "kubernetes").glob("*.yaml"))
        for document in yaml.safe_load_all(path.read_text("utf-8"))
    ]


def manifest(kind: str, name: str = "commonplace-postgres") -> Any:
    """The one manifest of a kind and name."""
    (found,) = [one for one in manifests() if one["kind"] == kind and one["metadata"]["name"] == name]
    return found


def compose() -> Any:
    return yaml.safe_load(COMPOSE.read_text("utf-8"))


def test_there_is_something_to_look_at() -> None:
    assert COMPOSE in FILES
    kinds = sorted(one["kind"] for one in manifests())
    assert kinds == ["NetworkPolicy", "PodDisruptionBudget", "Service", "Service", "StatefulSet"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(DEPLOY).as_posix())
def test_the_yaml_is_clean(path: Path) -> None:
    assert [str(problem) for problem in linter.run(path.read_text("utf-8"), STYLE, str(path))] == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(DEPLOY).as_posix())
def test_no_file_holds_a_password(path: Path) -> None:
    text = path.read_text("utf-8")
    assert re.findall(r"\b\w*PASSWORD\b|\bpassword *=(?!/dev/stdin).*", text) == []  # PASSWORD_FILE only names a place
    assert re.findall(r"postgres(?:ql)?://[^\s/]*:[^\s/]*@", text) == []
    assert not re.search(r"(?m)^kind: Secret$", text)


@pytest.mark.slow
def test_the_compose_file_follows_the_specification() -> None:
    pytest.importorskip("check_jsonschema", reason="check-jsonschema has no version for this Python")
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", str(COMPOSE)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("number", range(len(manifests())), ids=lambda number: manifests()[number]["kind"])
def test_the_manifest_follows_the_schema_of_kubernetes(number: int) -> None:
    errors = violations(manifests()[number])
    assert errors == []


def test_a_property_that_kubernetes_does_not_know_is_noticed() -> None:
    wrong = manifest("StatefulSet")
    wrong["spec"]["template"]["spec"]["containers"][0]["imagePullPolice"] = "Always"
    assert "imagePullPolice" in str(violations(wrong))


def violations(document: dict[str, Any]) -> list[str]:
    """Return the differences between a manifest and the schema of its kind."""
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema has no version for this Python")
    schemas = json.loads((Path(__file__).parent / "data" / "kubernetes-1.31.json").read_text("utf-8"))
    schema = {**schemas["kinds"][document["kind"]], "$defs": schemas["$defs"]}
    return [error.message for error in jsonschema.Draft202012Validator(schema).iter_errors(document)]


def test_both_run_the_same_postgres() -> None:
    (container,) = manifest("StatefulSet")["spec"]["template"]["spec"]["containers"]
    assert compose()["services"]["postgres"]["image"] == container["image"] == "pgvector/pgvector:pg18"


@pytest.mark.parametrize("name", ["postgres", "pgbouncer"])
def test_a_service_is_confined_healthy_and_open_to_this_machine_alone(name: str) -> None:
    service = compose()["services"][name]
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["read_only"] is True
    assert service["healthcheck"]["test"][1] == "pg_isready"
    assert service["mem_limit"]
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])


def test_every_secret_volume_and_config_of_a_service_is_declared_and_used() -> None:
    page = compose()
    services = page["services"].values()
    assert {name for one in services for name in one.get("secrets", [])} == set(page["secrets"])
    assert {one["source"] for service in services for one in service.get("configs", [])} == set(page["configs"])
    assert {mount.partition(":")[0] for one in services for mount in one.get("volumes", [])} == set(page["volumes"])
    assert all("file" in secret for secret in page["secrets"].values())


def test_the_pooler_is_optional_and_lends_by_transaction() -> None:
    page = compose()
    assert page["services"]["pgbouncer"]["profiles"] == ["pooler"]
    assert "profiles" not in page["services"]["postgres"]
    assert "\npool_mode = transaction\n" in page["configs"]["pgbouncer"]["content"]


def test_the_pod_meets_the_restricted_standard_and_more() -> None:
    pod = manifest("StatefulSet")["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert pod["automountServiceAccountToken"] is False
    for container in pod["containers"]:
        context = container["securityContext"]
        assert context["allowPrivilegeEscalation"] is False
        assert context["readOnlyRootFilesystem"] is True
        assert context["capabilities"] == {"drop": ["ALL"]}
        assert {"cpu", "memory"} <= set(container["resources"]["requests"])
        assert container["resources"]["limits"]["memory"] == container["resources"]["requests"]["memory"]
        assert {"startupProbe", "readinessProbe", "livenessProbe"} <= set(container)


def test_what_the_container_mounts_is_there_and_what_is_there_is_mounted() -> None:
    spec = manifest("StatefulSet")["spec"]
    (container,) = spec["template"]["spec"]["containers"]
    claims = {claim["metadata"]["name"] for claim in spec["volumeClaimTemplates"]}
    volumes = {volume["name"] for volume in spec["template"]["spec"]["volumes"]}
    assert {mount["name"] for mount in container["volumeMounts"]} == claims | volumes
    paths = {mount["name"]: mount["mountPath"] for mount in container["volumeMounts"]}
    values = {one["name"]: one["value"] for one in container["env"]}
    assert values["POSTGRES_PASSWORD_FILE"].startswith(paths["password"] + "/")
    assert values["PGDATA"].startswith(paths["data"] + "/")


def test_the_manifests_speak_of_the_same_pods_and_ports() -> None:
    spec = manifest("StatefulSet")["spec"]
    assert spec["replicas"] == 1
    assert spec["selector"]["matchLabels"] == NAME
    assert spec["template"]["metadata"]["labels"].items() >= NAME.items()
    assert manifest("Service", spec["serviceName"])["spec"]["clusterIP"] == "None"
    ports = {port["name"] for port in spec["template"]["spec"]["containers"][0]["ports"]}
    for service in (manifest("Service"), manifest("Service", spec["serviceName"])):
        assert service["spec"]["selector"] == NAME
        assert {port["targetPort"] for port in service["spec"]["ports"]} == ports
    assert manifest("PodDisruptionBudget")["spec"]["selector"]["matchLabels"] == NAME
    policy = manifest("NetworkPolicy")["spec"]
    assert policy["podSelector"]["matchLabels"] == NAME
    assert {port["port"] for rule in policy["ingress"] for port in rule["ports"]} == ports
    assert (policy["policyTypes"], policy["egress"]) == (["Ingress", "Egress"], [])
