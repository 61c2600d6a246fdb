"""Checks the Kubernetes manifests: against the schemas, and against each other."""

import re
import subprocess

from environment import PROGRAMS, known_variables, required_variables
from tools import find

OVERLAYS = ("deploy/k8s/overlays/dev", "deploy/k8s/overlays/production", ".ci/deploy/other-components")
WORKLOADS = ("Deployment", "StatefulSet", "Job")
# Kinds of operators, whose schemas are not at hand.
CUSTOM = {
    "postgresql.cnpg.io/v1": {"Cluster"},
    "cert-manager.io/v1": {"Certificate", "Issuer"},
    "external-secrets.io/v1": {"ExternalSecret"},
    "monitoring.coreos.com/v1": {"PodMonitor"},
    "gateway.networking.k8s.io/v1": {"HTTPRoute"},
}
# The kernel's range for outgoing connections: a port in it may be taken by one.
OUTGOING_PORTS = range(32768, 61000)
# The connections to Postgres of one process: its pool (`platform/src/pg/pool.rs`), and those of the poster of wallet-svc
# and of the revocations of identity-svc.
CONNECTIONS = {"catalog-svc": 16, "orders-svc": 16, "wallet-svc": 18, "identity-svc": 17}
# Connections for superusers, the operator of Postgres, jobs and people.
OTHER_CONNECTIONS = 30


def check(report, root):
    kubectl = find("kubectl")
    if kubectl is None:
        report.skip("Kubernetes manifests", "NOT CHECKED: there is no kubectl")
        return
    for overlay in OVERLAYS:
        result = subprocess.run([kubectl, "kustomize", root / overlay], capture_output=True, text=True, timeout=60)
        if result.returncode != 0:
            report.fault(overlay, result.stderr.strip())
            continue
        Rendered(report, overlay, result.stdout, root).check()


class Rendered:
    """The manifests of an overlay."""

    def __init__(self, report, overlay, text, root):
        import yaml

        self.report, self.overlay, self.text = report, overlay, text
        self.objects = [it for it in yaml.safe_load_all(text) if it]
        example = (root / "deploy/k8s/secrets.example.yaml").read_text()
        self.secrets = {it["metadata"]["name"]: set(it["stringData"]) for it in yaml.safe_load_all(example)}
        for it in self.of("Certificate"):
            self.secrets[it["spec"]["secretName"]] = {"ca.crt", "tls.crt", "tls.key"}
        for it in self.of("Cluster"):
            self.secrets[it["metadata"]["name"] + "-ca"] = {"ca.crt", "ca.key"}

    def fault(self, it, what):
        self.report.fault(f"{self.overlay}: {it['kind']} {it['metadata']['name']}", what)

    def of(self, *kinds):
        return [it for it in self.objects if it["kind"] in kinds]

    def named(self, kind, name):
        return next((it for it in self.of(kind) if it["metadata"]["name"] == name), None)

    def check(self):
        self.check_schemas()
        for it in self.of(*WORKLOADS):
            self.check_workload(it)
        self.check_config_maps()
        self.check_references()
        self.check_network_policies()
        self.check_connections()

    def check_schemas(self):
        import kubernetes_validate

        for it in self.objects:
            if it["kind"] in CUSTOM.get(it["apiVersion"], ()):
                continue
            try:
                kubernetes_validate.validate(it, "1.37", strict=True)
            except (kubernetes_validate.ValidationError, kubernetes_validate.SchemaNotFoundError) as error:
                self.fault(it, str(getattr(error, "message", error)))

    # -- pods

    def check_workload(self, it):
        pod = it["spec"]["template"]["spec"]
        labels = it["spec"]["template"]["metadata"]["labels"]
        selector = it["spec"].get("selector", {}).get("matchLabels", {})
        if not selector.items() <= labels.items():
            self.fault(it, "the selector does not match the labels of the pods")
        if pod.get("automountServiceAccountToken") is not False:
            self.fault(it, "has a service account token")
        account = pod.get("serviceAccountName")
        if account and not self.named("ServiceAccount", account):
            self.fault(it, f"there is no service account {account}")
        security = pod.get("securityContext", {})
        if not security.get("runAsNonRoot") or security.get("seccompProfile", {}).get("type") != "RuntimeDefault":
            self.fault(it, "the pod is not restricted: runAsNonRoot, seccompProfile")
        for container in pod["containers"]:
            self.check_container(it, container, pod)

    def check_container(self, it, container, pod):
        security = container.get("securityContext", {})
        restricted = (
            security.get("allowPrivilegeEscalation") is False
            and security.get("readOnlyRootFilesystem") is True
            and security.get("capabilities", {}).get("drop") == ["ALL"]
        )
        if not restricted:
            self.fault(it, "the container is not restricted: privileges, file system, capabilities")
        resources = container.get("resources", {})
        if set(resources.get("requests", {})) != {"cpu", "memory"} or "memory" not in resources.get("limits", {}):
            self.fault(it, "needs requests of cpu and memory, and a limit of memory")
        if ":" not in container["image"].rsplit("/", 1)[-1]:
            self.fault(it, f"the image {container['image']} has no tag")
        ports = {port["name"] for port in container.get("ports", ())}
        for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
            if it["kind"] == "Job":
                continue
            if probe not in container:
                self.fault(it, f"has no {probe}")
            elif container[probe]["httpGet"]["port"] not in ports:
                self.fault(it, f"{probe}: there is no port {container[probe]['httpGet']['port']}")
        if it["kind"] == "Deployment" and container.get("livenessProbe", {}).get("httpGet", {}).get("path") != "/livez":
            self.fault(it, "the liveness probe must not depend on neighbours: /livez")
        for port in container.get("ports", ()):
            if port["containerPort"] in OUTGOING_PORTS:
                self.fault(it, f"port {port['containerPort']} is in the range for outgoing connections")
        volumes = {volume["name"]: volume for volume in pod.get("volumes", ())}
        claims = {claim["metadata"]["name"] for claim in it["spec"].get("volumeClaimTemplates", ())}
        for mount in container.get("volumeMounts", ()):
            if mount["name"] not in volumes and mount["name"] not in claims:
                self.fault(it, f"there is no volume {mount['name']}")
        self.check_volumes(it, volumes.values())
        self.check_environment(it, container)

    def check_volumes(self, it, volumes):
        for volume in volumes:
            secret, config = volume.get("secret"), volume.get("configMap")
            if secret and secret["secretName"] not in self.secrets:
                self.fault(it, f"volume {volume['name']}: there is no secret {secret['secretName']}")
            if config and not self.named("ConfigMap", config["name"]):
                self.fault(it, f"volume {volume['name']}: there is no config map {config['name']}")

    # -- settings

    def check_environment(self, it, container):
        values = {}
        for source in container.get("envFrom", ()):
            config = self.named("ConfigMap", source["configMapRef"]["name"])
            if config is None:
                self.fault(it, f"there is no config map {source['configMapRef']['name']}")
            else:
                values |= config.get("data", {})
        shared = set(values)
        for variable in container.get("env", ()):
            values[variable["name"]] = variable.get("value")
            self.check_secret_key(it, variable.get("valueFrom", {}).get("secretKeyRef"))
        program = re.sub(r".*/|:.*", "", container["image"])
        command = tuple(container.get("args", ()))
        if (known := known_variables(self.report, program, command)) is None:
            return
        for name in required_variables(program, command) - set(values):
            self.fault(it, f"{program} needs {name}, which is not set")
        for name in set(values) - known - shared:
            self.fault(it, f"{program} does not read {name}")
        self.check_addresses(it, values)

    def check_secret_key(self, it, reference):
        if reference and reference["key"] not in self.secrets.get(reference["name"], ()):
            self.fault(it, f"secret {reference['name']} has no key {reference['key']} in secrets.example.yaml")

    def check_addresses(self, it, values):
        for name, value in values.items():
            match = re.fullmatch(r"https?://([^:/.]+):(\d+)", value or "")
            if not match or not name.endswith("_GRPC_URL"):
                continue
            service = self.named("Service", match[1])
            if service is None or int(match[2]) not in [port["port"] for port in service["spec"]["ports"]]:
                self.fault(it, f"{name}: no service listens on {value}")

    def check_config_maps(self):
        """Each setting of a config map is one that a process reads."""
        known = [known_variables(self.report, program, ()) for program in PROGRAMS]
        if None in known:
            return
        known = set().union(*known)
        for it in self.of("ConfigMap"):
            for name in it.get("data", {}):
                if name.isupper() and name not in known:
                    self.fault(it, f"no process reads {name}")

    # -- references of other objects

    def check_references(self):
        for it in self.of("Service"):
            pods = self.pods(it["spec"]["selector"])
            names = {port["name"] for pod in pods for c in pod["spec"]["containers"] for port in c.get("ports", ())}
            for port in it["spec"]["ports"]:
                if port["targetPort"] not in names:
                    self.fault(it, f"no pod has the port {port['targetPort']}")
                if port["port"] in OUTGOING_PORTS:
                    self.fault(it, f"port {port['port']} is in the range for outgoing connections")
        for it in self.of("PodDisruptionBudget"):
            if not self.pods(it["spec"]["selector"]["matchLabels"]):
                self.fault(it, "selects no pods")
        for it in self.of("HorizontalPodAutoscaler"):
            target = self.named("Deployment", it["spec"]["scaleTargetRef"]["name"])
            if target is None:
                self.fault(it, "its deployment does not exist")
            elif "replicas" in target["spec"]:
                self.fault(it, "its deployment sets the number of replicas as well")
        for it in self.of("Ingress"):
            for rule in it["spec"]["rules"]:
                for path in rule["http"]["paths"]:
                    if not self.named("Service", path["backend"]["service"]["name"]):
                        self.fault(it, f"there is no service {path['backend']['service']['name']}")
        for it in self.of("HTTPRoute"):
            for backend in (ref for rule in it["spec"]["rules"] for ref in rule["backendRefs"]):
                service = self.named("Service", backend["name"])
                if service is None or backend["port"] not in [port["port"] for port in service["spec"]["ports"]]:
                    self.fault(it, f"there is no service {backend['name']} on port {backend['port']}")

    def pods(self, labels):
        templates = [it["spec"]["template"] for it in self.of(*WORKLOADS)]
        return [pod for pod in templates if labels.items() <= pod["metadata"]["labels"].items()]

    def check_network_policies(self):
        policies = self.of("NetworkPolicy")
        if not any(it["spec"]["podSelector"] == {} and it["spec"]["policyTypes"] == ["Ingress", "Egress"]
                   and "ingress" not in it["spec"] and "egress" not in it["spec"] for it in policies):
            self.report.fault(self.overlay, "no network policy denies everything by default")
        for it in policies:
            labels = it["spec"]["podSelector"].get("matchLabels")
            if labels and not self.pods(labels):
                self.fault(it, "selects no pods")
        for service in self.of("Service"):
            for port in service["spec"]["ports"]:
                if not any(self.admits(it, service, port) for it in policies):
                    self.fault(service, f"no network policy admits connections to its port {port['name']}")

    def admits(self, policy, service, port):
        labels = policy["spec"]["podSelector"].get("matchLabels")
        pods = self.pods(service["spec"]["selector"])
        if not labels or not all(labels.items() <= pod["metadata"]["labels"].items() for pod in pods):
            return False
        numbers = [
            it["containerPort"]
            for pod in pods for c in pod["spec"]["containers"] for it in c.get("ports", ())
            if it["name"] == port["targetPort"] and isinstance(it["containerPort"], int)
        ]
        allowed = [it for rule in policy["spec"].get("ingress", ()) for it in rule.get("ports", ())]
        return all(any(it["port"] <= n <= it.get("endPort", it["port"]) for it in allowed) for n in numbers)

    # -- Postgres

    def check_connections(self):
        """All replicas fit into the connections of their server, also while one more is rolled out."""
        clusters = self.of("Cluster")
        for it in clusters:
            contexts = [name for name in CONNECTIONS if len(clusters) == 1 or name.split("-")[0] in it["metadata"]["name"]]
            needed = OTHER_CONNECTIONS + sum((self.replicas(name) + 1) * CONNECTIONS[name] for name in contexts)
            allowed = int(it["spec"]["postgresql"]["parameters"]["max_connections"])
            if needed > allowed:
                self.fault(it, f"max_connections is {allowed}, and all replicas together may need {needed}")

    def replicas(self, name):
        scaled = next((it for it in self.of("HorizontalPodAutoscaler") if it["metadata"]["name"] == name), None)
        return scaled["spec"]["maxReplicas"] if scaled else self.named("Deployment", name)["spec"].get("replicas", 1)
