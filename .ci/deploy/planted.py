"""Errors that the checks must find, one of each kind."""

import shutil
import tempfile
from pathlib import Path

from tools import ROOT, Report

# A file, a text in it, what replaces it, and a part of the fault that must be found.
ERRORS = [
    ("deploy/k8s/base/gateway.yaml", "containerPort: 8080", "containerPort: 80800x", "8080"),
    ("deploy/k8s/base/gateway.yaml", "name: http, containerPort: 8080", "name: web, containerPort: 8080", "no pod has the port http"),
    ("deploy/k8s/base/orders-svc.yaml", "{name: grpc, containerPort: 15052}", "{name: grpc, containerPort: 50052}", "range for outgoing"),
    ("deploy/k8s/base/orders-svc.yaml", "matchLabels: {app.kubernetes.io/name: orders-svc}\n  template", "matchLabels: {app.kubernetes.io/name: orders}\n  template", "selector does not match"),
    ("deploy/k8s/base/orders-svc.yaml", "key: ORDERS_DATABASE_URL", "key: ORDERS_DATABASE", "has no key ORDERS_DATABASE "),
    ("deploy/k8s/base/orders-svc.yaml", "name: ORDERS_DATABASE_URL", "name: ORDERS_DATABASE", "needs ORDERS_DATABASE_URL"),
    ("deploy/k8s/base/orders-svc.yaml", "serviceAccountName: orders-svc", "serviceAccountName: orders", "no service account orders"),
    ("deploy/k8s/base/guerdon.env", "wallet-svc:15053", "wallet:15053", "no service listens on http://wallet:15053"),
    ("deploy/k8s/base/guerdon.env", "LOG=info", "LOGS=info", "no process reads LOGS"),
    ("deploy/k8s/base/process.yaml", "path: /livez", "path: /readyz", "must not depend on neighbours"),
    ("deploy/k8s/base/process.yaml", "readOnlyRootFilesystem: true", "readOnlyRootFilesystem: false", "not restricted"),
    ("deploy/k8s/base/process.yaml", "replicas: 2", "replica: 2", "replica"),
    ("deploy/k8s/base/network-policies.yaml", "  name: default-deny\nspec:\n  podSelector: {}", "  name: default-deny\nspec:\n  podSelector: {matchLabels: {app.kubernetes.io/name: gateway}}", "denies everything"),
    ("deploy/k8s/base/network-policies.yaml", "endPort: 15054", "endPort: 15052", "no network policy admits"),
    ("deploy/k8s/components/autoscaling/autoscalers.yaml", "maxReplicas: 4", "maxReplicas: 40", "all replicas together"),
    ("deploy/compose.yaml", "ORDERS_LISTEN: 0.0.0.0:15052", "ORDERS_LISTENS: 0.0.0.0:15052", "does not read ORDERS_LISTENS"),
    ("deploy/compose.yaml", '"127.0.0.1:8080:8080"', '"8080:8080"', "open to other machines"),
    ("deploy/compose.yaml", "${GRAFANA_PASSWORD}", "${GRAFANA_SECRET}", "GRAFANA_SECRET"),
    ("deploy/images/Dockerfile", "FROM rust:${RUST_VERSION}-bookworm", "FROM rust:latest", "latest"),
    ("deploy/compose/create-roles.sh", "for context in", "for $context in", "create-roles.sh"),
    ("deploy/monitoring/rules/alerts.yaml", "max by (service) (dead_letters) > 0", "max by (service) (dead_letters) > 5", "FAILED"),
    ("deploy/monitoring/rules/alerts.yaml", "expr: min by (service) (nats_connected) == 0", "expr: min by (service (nats_connected) == 0", "parse"),
    ("deploy/monitoring/runbook.md", "## SagaStuck", "## SagaIsStuck", "no section SagaStuck"),
    ("deploy/monitoring/dashboards/guerdon-events.json", "outbox_unpublished)", "outbox_backlog)", "outbox_backlog"),
    ("deploy/monitoring/dashboards/guerdon-events.json", "rate(outbox_published_total[", "rat(outbox_published_total[", "unknown function"),
]


def check(report, checks):
    """Plants each error in a copy of the files, and reports those that their check does not find."""
    for file, before, after, expected in ERRORS:
        with tempfile.TemporaryDirectory() as temporary:
            copy = Path(temporary)
            for directory in ("deploy", ".ci"):
                ignore = shutil.ignore_patterns("node_modules", "src", "__pycache__")
                shutil.copytree(ROOT / directory, copy / directory, ignore=ignore)
            text = (copy / file).read_text()
            if before not in text:
                report.fault(file, f"the planted error has no place: {before}")
                continue
            (copy / file).write_text(text.replace(before, after))
            found = Report()
            folder = file.split("/")[1]
            checks.get(folder, checks["compose"])(found, copy)
            # Without its tool, the check finds nothing, and has said so.
            if not found.skipped and not any(expected in fault for fault in found.faults):
                report.fault(file, f"the planted error is not found: {before} -> {after}; found: {found.faults}")
