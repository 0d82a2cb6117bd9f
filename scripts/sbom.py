"""Makes a CycloneDX bill of materials from the output of `cargo metadata`; scripts/sbom says how to run it.

The metadata are those of the whole workspace, with every feature that a test or a benchmark switches on. Which crates are in the
program is what `cargo tree` says of it.

Our own crates are parts of the program, and have no names outside this repository. Components are the crates of others: those that
are linked, and, with the scope "excluded", those that only run while the program is built. C libraries that a crate brings along in
its sources are components as well, because advisories know them by their own names.
"""

import collections
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import tomllib
import urllib.parse
import uuid

ROOT = "aerogram"
CRATES_IO = "registry+https://github.com/rust-lang/crates.io-index"
# For the serial number, which follows from the contents.
NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "https://cyclonedx.org/aerogram")

# Crate -> name of the C library, its header, what tells the version, how that is written, licence.
BUNDLED = {
    "libsqlite3-sys": ("sqlite", "sqlite3/sqlite3.h", r'#define SQLITE_VERSION +"([0-9.]+)"', str, "blessing"),
    "libmimalloc-sys": (
        "mimalloc",
        "c_src/mimalloc/v3/include/mimalloc.h",
        r"#define MI_MALLOC_VERSION +([0-9]+)",
        lambda number: f"{int(number) // 10000}.{int(number) // 100 % 100}.{int(number) % 100}",
        "MIT",
    ),
}


def main():
    target = sys.argv[1]
    metadata = json.load(sys.stdin)
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    checksums = checksums_of(pathlib.Path(metadata["workspace_root"]) / "Cargo.lock")
    root = next(package for package in packages.values() if package["name"] == ROOT and is_ours(package))

    linked, needed = crates(target, "normal,no-proc-macro"), crates(target, "normal,build")
    members = {identity for identity in reach(root["id"], nodes)
               if is_ours(packages[identity]) or named(packages[identity]) in needed}
    if missing := needed - {named(packages[identity]) for identity in members}:
        sys.exit(f"sbom: cargo's metadata do not know how the program gets to {sorted(missing)}.")
    components, graph = [], collections.defaultdict(set)
    for identity in members:
        package = packages[identity]
        # What our own crates need, the program needs.
        reference = purl_of(root) if is_ours(package) else purl_of(package)
        used = {purl_of(packages[below["pkg"]]) for below in nodes[identity]["deps"]
                if below["pkg"] in members and is_needed(below) and not is_ours(packages[below["pkg"]])}
        graph[reference] |= used
        if is_ours(package):
            continue
        scope = "required" if named(package) in linked else "excluded"
        components.append(component_of(package, checksums, scope))
        for library in bundled_with(package):
            components.append(library | {"scope": scope})
            graph[reference].add(library["bom-ref"])
            graph[library["bom-ref"]] |= set()

    document = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "tools": {"components": [{"type": "application", "name": "scripts/sbom.py"}]},
            "component": {
                "type": "application",
                "bom-ref": purl_of(root),
                "name": ROOT,
                "version": root["version"],
                "licenses": licenses_of(root),
                "purl": purl_of(root),
            },
            "properties": [{"name": "aerogram:target", "value": target}],
        },
        "components": sorted(components, key=lambda component: component["bom-ref"]),
        "dependencies": [{"ref": ref, "dependsOn": sorted(used)} for ref, used in sorted(graph.items())],
    }
    if epoch := os.environ.get("SOURCE_DATE_EPOCH"):
        time = datetime.datetime.fromtimestamp(int(epoch), datetime.timezone.utc)
        document["metadata"]["timestamp"] = time.strftime("%Y-%m-%dT%H:%M:%SZ")
    document["serialNumber"] = f"urn:uuid:{uuid.uuid5(NAMESPACE, json.dumps(document, sort_keys=True))}"
    json.dump(document, sys.stdout, indent=1, sort_keys=True)
    print()


def crates(target, edges):
    """Name and version of the crates of others that the program needs along dependencies of some kinds."""
    command = ["cargo", "tree", "--locked", "--package", ROOT, "--edges", edges, "--target", target,
               "--prefix", "none", "--format", "{p}"]
    lines = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    # Our own have a path at the end.
    found = (re.fullmatch(r"(\S+) v(\S+)(?: \(proc-macro\))?(?: \(\*\))?", line) for line in lines)
    return {match.groups() for match in found if match}


def reach(start, nodes):
    """All packages that a package needs, with itself."""
    found, waiting = set(), [start]
    while waiting:
        identity = waiting.pop()
        if identity not in found:
            found.add(identity)
            waiting.extend(below["pkg"] for below in nodes[identity]["deps"] if is_needed(below))
    return found


def is_needed(dependency):
    """Everything but dependencies of tests."""
    return any(kind["kind"] in (None, "build") for kind in dependency["dep_kinds"])


def named(package):
    return package["name"], package["version"]


def is_ours(package):
    return package["source"] is None


def purl_of(package):
    if is_ours(package):
        return f"pkg:generic/{package['name']}@{package['version']}"
    if package["source"] != CRATES_IO:
        sys.exit(f"sbom: {package['name']} does not come from crates.io but from {package['source']}.")
    return f"pkg:cargo/{package['name']}@{urllib.parse.quote(package['version'], safe='')}"


def component_of(package, checksums, scope):
    component = {
        "type": "library",
        "bom-ref": purl_of(package),
        "name": package["name"],
        "version": package["version"],
        "purl": purl_of(package),
        "scope": scope,
        "licenses": licenses_of(package),
        "hashes": [{"alg": "SHA-256", "content": checksums[named(package)]}],
    }
    if package.get("repository"):
        component["externalReferences"] = [{"type": "vcs", "url": package["repository"]}]
    return component


def licenses_of(package):
    if not package["license"]:
        sys.exit(f"sbom: {package['name']} names no licence.")
    # Before there were expressions, a slash stood for a choice.
    return [{"expression": re.sub(r" ?/ ?", " OR ", package["license"])}]


def bundled_with(package):
    """The C library in the sources of a crate, if it has one."""
    if package["name"] not in BUNDLED:
        return
    name, header, pattern, written, licence = BUNDLED[package["name"]]
    folder = pathlib.Path(package["manifest_path"]).parent
    versions = {written(found[1]) for path in folder.glob(header) if (found := re.search(pattern, path.read_text()))}
    if len(versions) != 1:
        sys.exit(f"sbom: the version of {name} is not in {header} of {package['name']} {package['version']}: {versions or 'none'}.")
    (version,) = versions
    purl = f"pkg:generic/{name}@{version}"
    yield {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl,
           "licenses": [{"license": {"id": licence}}]}


def checksums_of(lock):
    packages = tomllib.loads(lock.read_text())["package"]
    return {(package["name"], package["version"]): package["checksum"] for package in packages if "checksum" in package}


if __name__ == "__main__":
    main()
