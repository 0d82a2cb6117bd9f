"""What Prometheus says of the metrics, of the alert rules, and of the queries of the dashboard.

usage: metrics_peer.py PROGRAM PROMTOOL
"""

import json
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


def main(program, promtool):
    with running(program, KEY, APP_SECRET, MASTER_SECRET, OPERATOR_TOKEN) as url:
        text = deliver_something(url)
        kind, open_metrics = scrape(url, "application/openmetrics-text; version=1.0.0, text/plain; q=0.5")
        assert kind.startswith("application/openmetrics-text") and open_metrics.endswith("# EOF\n"), kind
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
