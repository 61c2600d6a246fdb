"""Reads which variables the programs read, from their --help."""

import functools
import re
import subprocess

from tools import ROOT

PROGRAMS = ("gateway", "catalog-svc", "orders-svc", "wallet-svc", "identity-svc")


def known_variables(report, program, command):
    """Returns the variables that a program reads, `NAME_FILE` of secrets among them; None if it is not ours or
    not built."""
    if program not in PROGRAMS:
        return None
    settings = read(program, command)
    if settings is None:
        report.skip(f"variables of {program}", "NOT CHECKED: target/debug has no such program")
        return None
    return {name for name, _ in settings} | {f"{name}_FILE" for name, _ in settings}


def required_variables(program, command):
    """Returns the variables that a program can't start without."""
    return {name for name, required in read(program, command) if required}


@functools.cache
def read(program, command):
    path = ROOT / "target/debug" / program
    if not path.exists():
        return None
    # No variable of ours changes what it prints.
    text = subprocess.run([path, *command, "--help"], capture_output=True, text=True, env={}, timeout=60).stdout
    usage = re.search(r"^Usage: .*", text, re.M)[0]
    settings = []
    for option in re.split(r"\n(?= +(?:-\w, )?--)", text)[1:]:
        variable = re.search(r"\[env: (\w+)", option)
        if variable:
            flag = re.search(r"--[\w-]+", option)[0]
            settings.append((variable[1], re.search(rf"{flag}\b(?![\w-])", usage) is not None))
    return settings
