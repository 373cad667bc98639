#!/usr/bin/env python3
"""usage: sbom_test.py SCRIPT BUILD_TREE

The bill of materials has each library that is linked into what is shipped, with its version.
"""

import json
import re
import subprocess
import sys

script, tree = sys.argv[1:]


def bill(*targets):
    told = json.loads(subprocess.run([script, tree, *targets], check=True, capture_output=True, text=True).stdout)
    assert told["bomFormat"] == "CycloneDX" and told["specVersion"] == "1.5", told
    assert re.fullmatch(r"\d+\.\d+\.\d+", told["metadata"]["component"]["version"]), told["metadata"]
    for each in told["components"]:
        assert re.fullmatch(r"pkg:(deb/debian|npm)/[^@ ]+@[^@ :]+", each["purl"]), each
    return {each["name"]: each["version"] for each in told["components"]}


program = bill("everseen_program")
for name in ["libxxhash-dev", "libsodium-dev", "libhiredis-dev", "libexpected-dev", "libssl-dev", "librdkafka-dev", "libcli11-dev",
             "nlohmann-json3-dev", "libc6-dev"]:
    installed = subprocess.run(["dpkg-query", "--show", "--showformat=${Version}", name], check=True, capture_output=True,
                               text=True).stdout
    assert program.get(name) == installed, f"{name} {installed} is missing: {program}"
module = bill("everseen_redis_module")
assert "libxxhash-dev" in module and "librdkafka-dev" not in module, f"what the module does not have: {module}"
