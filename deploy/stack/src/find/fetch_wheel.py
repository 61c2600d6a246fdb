"""Fetch one pinned wheel and unpack it: fetch_wheel.py <requirements.txt> <directory>.

With pip where Python has it. Debian's plain `python3` has none; there the file is taken from the
index directly, and only if its hash is one of the pinned ones.
"""

import glob
import hashlib
import json
import os
import platform
import re
import subprocess
import sys
import urllib.parse
import urllib.request
import zipfile


def has_pip():
    return subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True).returncode == 0


def with_pip(requirements, into):
    arguments = ["--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:", "--require-hashes"]
    command = [sys.executable, "-m", "pip", "download", *arguments, "--dest", into, "--requirement", requirements]
    fetched = subprocess.run(command, capture_output=True, text=True)
    if fetched.returncode != 0:
        sys.exit(fetched.stderr)


def from_index(requirements, into):
    with open(requirements) as file:
        pin = file.read()
    package = pin.split("==")[0]
    hashes = re.findall(r"sha256:([0-9a-f]{64})", pin)
    index = os.environ.get("PIP_INDEX_URL", "https://pypi.org/simple").rstrip("/")
    request = urllib.request.Request(
        f"{index}/{package}/", headers={"Accept": "application/vnd.pypi.simple.v1+json"}
    )
    with urllib.request.urlopen(request, timeout=60) as response:
        files = json.load(response)["files"]
    machine = {"amd64": "x86_64"}.get(platform.machine().lower(), platform.machine().lower())
    system = {"linux": "manylinux", "darwin": "macosx"}.get(sys.platform, sys.platform)
    matching = [
        file
        for file in files
        if file["hashes"].get("sha256") in hashes and system in file["filename"] and machine in file["filename"]
    ]
    if not matching:
        sys.exit(f"there is no {package} for {system} {machine}")
    with urllib.request.urlopen(urllib.parse.urljoin(f"{index}/{package}/", matching[0]["url"]), timeout=300) as response:
        wheel = response.read()
    if hashlib.sha256(wheel).hexdigest() not in hashes:
        sys.exit(f"{matching[0]['filename']} has a wrong hash")
    with open(os.path.join(into, matching[0]["filename"]), "wb") as file:
        file.write(wheel)


def main():
    requirements, into = sys.argv[1:3]
    try:
        (with_pip if has_pip() else from_index)(requirements, into)
    except OSError as error:
        sys.exit(f"{error}")
    wheel = glob.glob(os.path.join(into, "*.whl"))[0]
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(into)
    os.remove(wheel)


main()
