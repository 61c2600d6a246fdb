"""Checks compose.yaml, the Dockerfile and the scripts."""

import re

from environment import PROGRAMS, known_variables, required_variables
from manifests import OUTGOING_PORTS
from tools import find, run

SCRIPTS = (".ci/run", ".ci/previous-release", ".ci/dependencies", ".ci/openapi/lint",
           ".ci/proto/check", ".ci/generated/queries", ".ci/images/start", "deploy/images/build", "deploy/images/programs",
           "deploy/images/static-rustc", "deploy/compose/make-env", "deploy/compose/create-roles.sh")


def check(report, root):
    run(report, "deploy/images/Dockerfile", [find("hadolint"), root / "deploy/images/Dockerfile"])
    run(report, "scripts", [find("shellcheck"), *(root / it for it in SCRIPTS)])
    run(report, "deploy/compose.yaml", [find("compose-lint"), root / "deploy/compose.yaml"])
    Compose(report, root / "deploy").check()


class Compose:
    def __init__(self, report, directory):
        import yaml

        self.report, self.directory = report, directory
        self.text = (directory / "compose.yaml").read_text()
        self.file = yaml.safe_load(self.text)

    def fault(self, service, what):
        self.report.fault(f"compose.yaml: {service}", what)

    def check(self):
        for name, service in self.file["services"].items():
            self.check_service(name, service)
        written = (self.directory / "compose/make-env").read_text()
        for variable in set(re.findall(r"\$\{(\w+)(?::\?[^}]*)?\}", self.text)):
            _, _, rest = variable.partition("_")
            # Some are written in a loop: `${context}_DATABASE_PASSWORD=`.
            if f'"{variable}=' not in written and f"}}_{rest}=" not in written:
                self.report.fault("compose.yaml", f"{variable} has no default, and make-env does not write it")

    def check_service(self, name, service):
        image = service["image"]
        if not image.startswith("guerdon/") and not re.search(r":v?\d", image):
            self.fault(name, f"the image {image} has no version")
        for other in service.get("depends_on", ()):
            if other not in self.file["services"]:
                self.fault(name, f"depends on {other}, which does not exist")
        for port in service.get("ports", ()):
            if not port.startswith("127.0.0.1:"):
                self.fault(name, f"port {port} is open to other machines")
            if int(port.split(":")[1]) in OUTGOING_PORTS:
                self.fault(name, f"port {port} is in the range for outgoing connections")
        for volume in service.get("volumes", ()):
            source = volume.split(":")[0]
            exists = source in self.file["volumes"] if "/" not in source else (self.directory / source).exists()
            if not exists:
                self.fault(name, f"there is no {source}")
        self.check_environment(name, service, image.removeprefix("guerdon/"))

    def check_environment(self, name, service, program):
        if program not in PROGRAMS:
            return
        command, environment = tuple(service.get("command", ())), service["environment"]
        known = known_variables(self.report, program, command)
        if known is None:
            return
        common = self.file["x-common"]
        for variable in required_variables(program, command) - set(environment):
            self.fault(name, f"{program} needs {variable}, which is not set")
        for variable in set(environment) - known - set(common):
            self.fault(name, f"{program} does not read {variable}")
        for variable, value in environment.items():
            match = re.fullmatch(r"http://([\w-]+):(\d+)", str(value))
            if variable.endswith("_GRPC_URL") and not (match and self.listens(match[1], match[2])):
                self.fault(name, f"{variable}: nothing listens on {value}")

    def listens(self, name, port):
        environment = self.file["services"].get(name, {}).get("environment", {})
        return any(str(value).endswith(f":{port}") for key, value in environment.items() if key.endswith("_LISTEN"))
