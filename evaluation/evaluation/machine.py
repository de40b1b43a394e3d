"""The machine, and the versions of what is measured on it."""

import hashlib
import json
import os
import platform
import subprocess
from pathlib import Path


def cpu_model():
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def memory():
    try:
        pages, size = os.sysconf("SC_PHYS_PAGES"), os.sysconf("SC_PAGE_SIZE")
        return f"{pages * size / 2**30:.0f} GiB"
    except (ValueError, OSError):
        return "not known"


def cores():
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def load():
    """Programs that want to run: those of others make times longer."""
    try:
        return round(os.getloadavg()[0], 1)
    except OSError:
        return None


def describe(program):
    def said(*arguments):
        return subprocess.run([program, *arguments], capture_output=True, text=True).stdout.strip()

    try:
        devices = json.loads(said("devices", "--json")).get("devices") or []
    except json.JSONDecodeError:
        devices = []
    return {
        "fastlbp": said("--version").partition("\n")[0],
        "program": hashlib.sha256(program.read_bytes()).hexdigest()[:16],
        "cpu": cpu_model(),
        "cores": cores(),
        "memory": memory(),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "devices": [device.get("name", "a CUDA device") for device in devices],
    }
