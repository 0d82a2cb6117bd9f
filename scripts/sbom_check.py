"""Has an independent validator judge a bill of materials, and compares it with what cargo itself says is linked.

usage: sbom_check.py FILE TARGET
"""

import json
import pathlib
import sys

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from sbom import crates


def main():
    file, target = pathlib.Path(sys.argv[1]), sys.argv[2]
    text = file.read_text()
    problem = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    if problem:
        sys.exit(f"supply: {file} is no CycloneDX 1.6: {problem}")
    document = json.loads(text)
    references = {component["bom-ref"] for component in document["components"]} | {document["metadata"]["component"]["bom-ref"]}
    tree = {entry["ref"]: set(entry["dependsOn"]) for entry in document["dependencies"]}
    loose = set().union(*tree.values(), tree) ^ references
    if loose:
        sys.exit(f"supply: the graph of {file} and its components are not the same: {sorted(loose)}")

    listed = {(component["name"], component["version"]) for component in document["components"]
              if component["scope"] == "required" and component["purl"].startswith("pkg:cargo/")}
    linked = crates(target, "normal,no-proc-macro")
    if listed != linked:
        sys.exit(f"supply: cargo links other crates than {file} lists: {sorted(listed ^ linked)}")
    n_others = len(document["components"]) - len(listed)
    print(f"supply: {file} is valid: {len(listed)} crates that are linked, as cargo says, and {n_others} other components")


if __name__ == "__main__":
    main()
