"""Packages from PyPI in a virtual environment, for comparisons with other software."""

import hashlib
import subprocess
import sys

SKIPPED = 77  # exit code of a comparison whose packages cannot be had


def packages_ready(venv, requirements, python=sys.executable):
    """Create the environment of this Python or complete it; False, with the reason on standard error, if that fails."""
    stamp = venv / "requirements.sha256"
    wanted = hashlib.sha256(requirements.read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text() == wanted:
        return True
    install = [venv / "bin" / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--timeout",
               "20", "--retries", "1", "--only-binary", ":all:", "-r", requirements]
    for command in ([python, "-m", "venv", "--clear", venv], install):
        if subprocess.run(command, stdout=sys.stderr).returncode != 0:
            print("failed: " + " ".join(map(str, command)), file=sys.stderr)
            return False
    stamp.write_text(wanted)
    return True
