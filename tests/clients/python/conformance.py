"""Sends generated requests to a running stack, and compares its answers with the OpenAPI document.

    .venv/bin/python conformance.py [--examples N] [--seed N]

Fails on any 5xx and on any answer that is not as the document says. The requests are the same for the
same seed. Needs GUERDON_URL and GUERDON_API_KEY; the stack must be one that nobody needs afterwards.
"""

import argparse
import os
import pathlib
import sys

from schemathesis.cli import schemathesis

HERE = pathlib.Path(__file__).resolve().parent
DOCUMENT = HERE / "../../../gateway/openapi.json"
# These take lines of JSON, or end the run's own credentials.
EXCLUDED = "^/products/(import|export)$"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--examples", default="20")
    parser.add_argument("--seed", default="20260131")
    options, rest = parser.parse_known_args()
    arguments = ["run", str(DOCUMENT), "--url", os.environ["GUERDON_URL"]]
    arguments += ["--header", f"apikey: {os.environ['GUERDON_API_KEY']}"]
    arguments += ["--seed", options.seed, "--max-examples", options.examples]
    arguments += ["--exclude-path-regex", EXCLUDED, *rest]
    sys.exit(schemathesis(arguments))


main()
