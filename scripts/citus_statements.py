"""Asks Citus how it would run the statements of `store`: one that names its app has to go to one shard, or a worker that is away
would stop apps of others. Statements that are put together of pieces are left out.
"""

import os
import re
import subprocess

from citus_servers import BIN, url_of

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../crates/store/src")
VERBS = ("select ", "insert ", "update ", "delete ", "with ")
# Any value of each type will do.
CALL = """select 'explain (costs off) execute s(' || string_agg(case when p.t::text in ('bigint', 'integer') then '3'
        when p.t::text = 'double precision' then '1.0' when p.t::text = 'text' then '''x''' else '''\\x00''' end, ', ' order by n)
    || ')' from pg_prepared_statements s, unnest(s.parameter_types) with ordinality p (t, n) where s.name = 's'
\\gexec
"""


def statements():
    found = set()
    for folder, _, names in os.walk(SOURCE):
        for name in names:
            if name == "tests.rs":
                continue
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                literals = file.read().split("#[cfg(test)]")[0].split('"')
            whole = [text for text in literals if not text.endswith("\\") and "{" not in text]
            found |= {" ".join(text.replace("\\\n", "").split()) for text in whole}
    return sorted(text for text in found if text.startswith(VERBS) and re.search(r"\bapp = \$", text))


def misplaced(server):
    """How many statements there are, and those that go to several shards, or that Citus refuses."""
    asked = statements()
    script = "set search_path = aerogram, pg_catalog; set plan_cache_mode = force_custom_plan;\n"
    for number, text in enumerate(asked):
        script += f"\\echo @@@{number}\nprepare s as {text};\n{CALL}deallocate s;\n"
    command = [f"{BIN}/psql", "-XqAt", url_of(server)]
    told = subprocess.run(command, input=script, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True).stdout
    wrong = []
    for part in told.split("@@@")[1:]:
        number, _, plan = part.partition("\n")
        if "ERROR" in plan or "Distributed Subplan" in plan or any(n != "1" for n in re.findall(r"Task Count: (\d+)", plan)):
            wrong.append(asked[int(number)])
    return len(asked), wrong
