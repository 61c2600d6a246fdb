"""Finds and runs the tools of the checks, and collects their results."""

import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PYTHON_TOOLS = ROOT / "target/tools/deploy"


class Report:
    """The faults that were found and the checks that could not run."""

    def __init__(self):
        self.faults = []
        self.skipped = []

    def fault(self, where, what):
        self.faults.append(f"{where}: {what}")

    def skip(self, check, why):
        self.skipped.append(f"{check}: {why}")


def install_python_tools():
    """Installs the pinned packages of requirements.txt into a virtual environment, once for each version."""
    requirements = (Path(__file__).parent / "requirements.txt").read_text()
    stamp = PYTHON_TOOLS / "requirements.txt"
    if not (stamp.exists() and stamp.read_text() == requirements):
        shutil.rmtree(PYTHON_TOOLS, ignore_errors=True)
        venv.create(PYTHON_TOOLS, with_pip=True)
        pip = [PYTHON_TOOLS / "bin/pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes"]
        subprocess.run([*pip, "-r", Path(__file__).parent / "requirements.txt"], check=True)
        stamp.write_text(requirements)
    packages = next((PYTHON_TOOLS / "lib").glob("python3*")) / "site-packages"
    sys.path.insert(0, str(packages))


def fetch_promtool():
    """Unpacks promtool from Debian's package, without installing the server that comes with it."""
    target = PYTHON_TOOLS / "bin/promtool"
    if find("promtool") or not shutil.which("apt-get"):
        return
    with tempfile.TemporaryDirectory() as temporary:
        download = ["apt-get", "download", "-q", "prometheus"]
        # The lists of packages may be missing on a fresh machine; only root can fetch them.
        for commands in ([download], [["apt-get", "update", "-q"], download]):
            if all(subprocess.run(it, cwd=temporary, capture_output=True).returncode == 0 for it in commands):
                break
        for package in Path(temporary).glob("prometheus_*.deb"):
            subprocess.run(["dpkg-deb", "-x", package, temporary], check=True)
            shutil.copy(Path(temporary) / "usr/bin/promtool", target)


def find(name):
    """Returns the path of a program, or None."""
    own = PYTHON_TOOLS / "bin" / name
    return str(own) if own.exists() else shutil.which(name)


def run(report, where, command, **options):
    """Runs a command whose failure is a fault; returns its output."""
    result = subprocess.run(command, capture_output=True, text=True, timeout=300, **options)
    if result.returncode != 0:
        report.fault(where, (result.stdout + result.stderr).strip())
    return result.stdout
