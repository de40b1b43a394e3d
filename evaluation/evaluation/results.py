"""What is known so far. Each result is a line of a file, on the disk before the next measurement begins, so that what was
interrupted goes on."""

import json
import os
import sys


class Results:
    def __init__(self, folder, file, known, again):
        # `again` are keys of results that are to be measured once more; until then they stand.
        self.folder, self.file, self.known, self.again = folder, file, known, again

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()

    def __contains__(self, key):
        return key in self.known and key not in self.again

    def __getitem__(self, key):
        return self.known[key]

    def get(self, key):
        """A result without an error, if there is one."""
        value = self.known.get(key)
        return None if value is None or value.get("error") else value

    def items(self):
        return self.known.items()

    def add(self, key, value):
        self.file.write(json.dumps({"key": key, "value": value}) + "\n")
        self.file.flush()
        os.fsync(self.file.fileno())
        self.known[key] = value
        self.again.discard(key)


def open_results(arguments, here):
    """Reads the results of before, which must be of the same program, machine and kind of run."""
    path = arguments.output / "results.jsonl"
    subject = {"quick": arguments.quick, "machine": here}
    known, again = {}, set()
    if path.is_file() and not arguments.restart:
        text = path.read_text()
        # What was torn at the end was not complete.
        whole = text[: text.rfind("\n") + 1]
        lines = [json.loads(line) for line in whole.splitlines()]
        if lines and lines[0] != subject:
            sys.exit(f"{path} is of another program, machine or kind of run: --restart, or another --output, is needed")
        known = {line["key"]: line["value"] for line in lines[1:]}
        # Failures are tried again, and so is what has more time now, or can make all its iterations.
        known = {key: value for key, value in known.items() if not value.get("error")}
        again = {key for key, value in known.items() if value.get("unfinished", arguments.limit) < arguments.limit
                 or (value.get("fewer") and not arguments.fewer)}
        path.write_text("".join(json.dumps(line) + "\n" for line in [subject] + [
            {"key": key, "value": value} for key, value in known.items()]))
        print(f"{path}: goes on after {len(known)} results")
    else:
        path.write_text(json.dumps(subject) + "\n")
    return Results(arguments.output, open(path, "a"), known, again)
