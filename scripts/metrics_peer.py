"""What Prometheus says of the metrics, of the alert rules, and of the queries of the dashboard; and whether these ask for labels
that there are.

usage: metrics_peer.py PROGRAM PROMTOOL
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import requests

from program import eventually, running

KEY, APP_SECRET, MASTER_SECRET = "metrics-peer-app-key-1", "metrics-peer-secret-01", "metrics-peer-master-01"
OPERATOR_TOKEN = "metrics-peer-operator-token-of-32-letters"
RULES = Path("packaging/prometheus/aerogram.rules.yml")
RULES_TEST = Path("packaging/prometheus/aerogram.rules.test.yml")
DASHBOARD = Path("packaging/grafana/aerogram.json")
DOCUMENT = Path("docs/operations.md")
# Prometheus itself puts these on what it scrapes, and on histograms.
ADDED = {"instance", "job", "le"}
# Grafana puts these in; any duration and any name will do for the syntax.
VARIABLES = {"$__rate_interval": "5m", "$instance": ".*"}


def call(url, path, secret, status, body):
    answer = requests.post(url + path, auth=(KEY, secret), json=body)
    assert answer.status_code == status, answer.text


def scrape(url, accept):
    headers = {"Authorization": f"Bearer {OPERATOR_TOKEN}", "Accept": accept}
    answer = requests.get(f"{url}/metrics", headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.headers["Content-Type"], answer.text


def deliver_something(url):
    """So that most metrics have a value."""
    channel = {"channel": {"device_type": "ios", "opt_in": True, "push_address": "0a" * 32}}
    call(url, "/api/channels", APP_SECRET, 201, channel)
    push = {"audience": "all", "device_types": "all", "notification": {"alert": "Hi"}}
    call(url, "/api/push", MASTER_SECRET, 200, push)
    delivered = 'aerogram_deliveries_total{device_type="ios",transport="sandbox",outcome="delivered"} 1\n'
    return eventually(lambda: delivered in (text := scrape(url, "text/plain")[1]) and text)


def queries():
    for panel in json.loads(DASHBOARD.read_text())["panels"]:
        for target in panel.get("targets", []):
            query = target["expr"]
            for variable, value in VARIABLES.items():
                query = query.replace(variable, value)
            assert "$" not in query, f"{panel['title']}: a variable that Grafana does not know: {query}"
            yield query


def expressions():
    """Those of the alert rules."""
    for alert in RULES.read_text().split("- alert: ")[1:]:
        yield re.search(r"expr:(.*?)\n +(?:for|labels):", alert, re.DOTALL).group(1)


def documented():
    """The labels of every metric, as the table of the document has them."""
    rows = re.findall(r"^\| `((?:aerogram|process)_\w+)` \| ([\w, ]*)\|", DOCUMENT.read_text(), re.MULTILINE)
    return {name: set(re.findall(r"\w+", labels)) for name, labels in rows}


def check_labels(text):
    """A panel that asks for a label that there is not shows nothing, and an alert is never raised."""
    known = documented()
    samples = re.findall(r"^(\w+)(?:\{(.*)\})? ", text, re.MULTILINE)
    assert len(samples) > 50, text
    for name, labels in samples:
        plain = name if name in known else re.sub(r"_(bucket|sum|count)$", "", name)
        found = set(re.findall(r'(\w+)="', labels)) - ADDED
        assert found == known[plain], f"{name} has the labels {found}, and {DOCUMENT} says {known[plain]}"
    asked = [*queries(), *expressions()]
    assert len(asked) > 60, len(asked)
    for query in asked:
        names = {re.sub(r"_bucket$", "", name) for name in re.findall(r"\b(?:aerogram|process)_\w+", query)}
        there = ADDED.union(*(known[name] for name in names))
        groups = re.findall(r"\b(?:by|without|on|ignoring) \(([^)]*)\)", query)
        matched = re.findall(r"(\w+)\s*(?:=~|!~|!=|=)\s*\"", query)
        unknown = {word for group in groups for word in re.findall(r"\w+", group)}.union(matched) - there
        assert not unknown, f"nothing has the labels {unknown} that are asked for by {query}"


def main(program, promtool):
    with running(program, KEY, APP_SECRET, MASTER_SECRET, OPERATOR_TOKEN) as url:
        text = deliver_something(url)
        kind, open_metrics = scrape(url, "application/openmetrics-text; version=1.0.0, text/plain; q=0.5")
        assert kind.startswith("application/openmetrics-text") and open_metrics.endswith("# EOF\n"), kind
    check_labels(text)
    subprocess.run([promtool, "check", "metrics"], input=text.encode(), check=True)
    subprocess.run([promtool, "check", "rules", RULES], check=True)
    subprocess.run([promtool, "test", "rules", RULES_TEST], check=True)
    with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
        rules = [{"record": f"query:{number}", "expr": query} for number, query in enumerate(queries())]
        # JSON is YAML, too.
        json.dump({"groups": [{"name": "dashboard", "rules": rules}]}, file)
        file.flush()
        subprocess.run([promtool, "check", "rules", file.name], check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
