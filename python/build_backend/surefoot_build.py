"""scikit-build-core, which builds the package, and a line now and then on the terminal: pip itself shows nothing of minutes of compiling."""

import contextlib
import pathlib
import shutil
import subprocess
import threading
import time

from scikit_build_core import build as _backend
from scikit_build_core.build import *  # noqa: F403

SECONDS_BETWEEN_LINES = 10.0


def newest_build(begin):
    """The folder that is being built in: the one whose log of finished commands was written since the beginning."""
    logs = [log for log in pathlib.Path("build").glob("**/.ninja_log") if log.stat().st_mtime >= begin]
    return max(logs, key=lambda log: log.stat().st_mtime).parent if logs else None


def number_of_commands(folder):
    ninja = shutil.which("ninja")
    if ninja is None:
        return 0
    listed = subprocess.run([ninja, "-C", folder, "-t", "commands"], capture_output=True, text=True)
    return sum(" -c " in line for line in listed.stdout.splitlines())


def finished(folder):
    """Files that were compiled: the log has another line for one that was compiled again, and a last one that may be cut off."""
    with open(folder / ".ninja_log") as log:
        return len({line.split("\t")[3] for line in log if line.count("\t") == 4 and line.split("\t")[3].endswith(".o")})


def line_of(done, total, seconds):
    files = f"{done} of {total}" if total >= done else str(done)
    return f"surefoot: compiled {files} files, {int(seconds) // 60}:{int(seconds) % 60:02d}"


def watch(terminal, stop):
    begin = time.time()
    shown = -1
    while not stop.wait(SECONDS_BETWEEN_LINES):
        folder = newest_build(begin)
        if folder is None:
            continue
        done = finished(folder)
        if done != shown:
            terminal.write("\r\x1b[K" + line_of(done, number_of_commands(folder), time.time() - begin) + "\n")
            terminal.flush()
            shown = done


@contextlib.contextmanager
def progress():
    try:
        terminal = open("/dev/tty", "w")  # pip keeps standard output and error for itself
    except OSError:
        yield
        return
    stop = threading.Event()
    watcher = threading.Thread(target=watch, args=(terminal, stop), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        stop.set()
        watcher.join()
        terminal.close()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    with progress():
        return _backend.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    with progress():
        return _backend.build_editable(wheel_directory, config_settings, metadata_directory)
