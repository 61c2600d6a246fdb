"""Checks alerts, their tests and runbook, and the queries of the dashboards."""

import json
import re
import tempfile
from pathlib import Path

from tools import ROOT, find, run

# Metrics of Prometheus itself.
OTHERS = {"up"}
SUFFIX = re.compile(r"_(bucket|count|sum)$")


def check(report, root):
    directory = root / "deploy/monitoring"
    check_alerts(report, directory)
    queries = list(dashboard_queries(report, directory))
    check_metrics(report, directory, queries)
    promtool = find("promtool")
    if promtool is None:
        report.skip("alerts and dashboards", "NOT CHECKED by promtool, which is missing (Debian: prometheus)")
        return
    rules = sorted((directory / "rules").glob("*.yaml"))
    run(report, "alert rules", [promtool, "check", "rules", "--lint=all", "--lint-fatal", *rules])
    run(report, "tests of alerts", [promtool, "test", "rules", *sorted((directory / "tests").glob("*.yaml"))])
    check_queries(report, promtool, queries)
    with tempfile.TemporaryDirectory() as temporary:
        config = Path(temporary) / "prometheus.yml"
        text = (root / "deploy/compose/prometheus.yml").read_text()
        config.write_text(text.replace("/etc/prometheus/rules", str(directory / "rules")))
        run(report, "compose/prometheus.yml", [promtool, "check", "config", config])


def check_alerts(report, directory):
    """Each alert has a section of the runbook and two tests: one in which it fires, one in which it does not."""
    import yaml

    groups = yaml.safe_load((directory / "rules/alerts.yaml").read_text())["groups"]
    alerts = {rule["alert"]: rule for group in groups for rule in group["rules"]}
    sections = set(re.findall(r"^## (\w+)$", (directory / "runbook.md").read_text(), re.M))
    tests = yaml.safe_load((directory / "tests/alerts.yaml").read_text())["tests"]
    tested = {(rule["alertname"], bool(rule["exp_alerts"])) for it in tests for rule in it["alert_rule_test"]}
    for name, rule in alerts.items():
        if name not in sections:
            report.fault("runbook.md", f"has no section {name}")
        if not rule["annotations"]["runbook_url"].endswith(f"/deploy/monitoring/runbook.md#{name.lower()}"):
            report.fault(f"alert {name}", "does not lead to its section of the runbook")
        for fires in (True, False):
            if (name, fires) not in tested:
                report.fault(f"alert {name}", f"has no test in which it {'fires' if fires else 'does not fire'}")
    for name in sections - set(alerts):
        report.fault("runbook.md", f"section {name} has no alert")


def dashboard_queries(report, directory):
    for path in sorted((directory / "dashboards").glob("*.json")):
        dashboard = json.loads(path.read_text())
        if dashboard["uid"] != path.stem:
            report.fault(path.name, "its uid is not its name")
        for panel in dashboard["panels"]:
            for target in panel["targets"]:
                yield f"{path.name}: {panel['title']}", target["expr"]


def check_metrics(report, directory, queries):
    """Each metric of a query is one that a process has, or one that a rule records."""
    import yaml

    exported = set()
    for source in ROOT.glob("*/src/**/*.rs"):
        exported |= set(re.findall(r'(?:counter|gauge|histogram)!\(\s*"(\w+)"', source.read_text()))
    if not exported:
        report.fault("metrics", "none was found in the sources")
    rules = [rule for path in (directory / "rules").glob("*.yaml")
             for group in yaml.safe_load(path.read_text())["groups"] for rule in group["rules"]]
    recorded = {rule["record"] for rule in rules if "record" in rule}
    named = [(rule.get("alert") or rule["record"], rule["expr"]) for rule in rules]
    for where, query in [*queries, *named]:
        for metric in metrics_of(query):
            if metric not in exported | recorded | OTHERS and SUFFIX.sub("", metric) not in exported:
                report.fault(where, f"no process has the metric {metric}")


def metrics_of(query):
    """Returns the names of a query that aren't functions, labels or keywords."""
    query = re.sub(r"\{[^}]*\}|\[[^]]*\]|\"[^\"]*\"", "", query)
    query = re.sub(r"\b(by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)", "", query)
    names = re.findall(r"[a-zA-Z_][\w:]*(?!\s*\(|[\w:])", query)
    return {name for name in names if name not in {"and", "or", "unless", "bool", "offset"} and "_" in name or name in OTHERS}


def check_queries(report, promtool, queries):
    """Parses the queries as rules: promtool has no other check of a query without a server."""
    lines = ["groups:", "  - name: dashboards", "    rules:"]
    for number, (_, query) in enumerate(queries):
        query = query.replace("$__rate_interval", "5m")
        lines += [f"      - record: dashboard:query:n{number}", f"        expr: {json.dumps(query)}"]
    with tempfile.TemporaryDirectory() as temporary:
        path = Path(temporary) / "queries.yaml"
        path.write_text("\n".join(lines))
        run(report, "queries of the dashboards", [promtool, "check", "rules", path])
