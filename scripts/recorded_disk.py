"""The possible contents of a disk when the power fails during a recorded run.

A record (tests/faults/recorder.cpp) is replayed up to the call at which the power fails. The disk then holds each file as of its last
fsync, and each folder with its names as of its last fsync. Each later change may or may not have reached the disk; only a write may
have reached it in part. POSIX allows all of this; no real file system is that bad.
"""

import os
import pathlib
import typing

WAYS = {
    "lost": "only synced data are kept",
    "empty": "names are kept, unsynced contents are not: a rename without a sync",
    "zeros": "names and sizes are kept, unsynced contents are zeros",
    "drawn": "any part of the unsynced data is kept",
}


class Call(typing.NamedTuple):
    name: str
    thread: int
    inode: int
    place: int
    path: str
    before: str
    bytes_: bytes

    def __str__(self):
        return f"{self.name} of {self.path}"


def read_record(path):
    record, at, calls = path.read_bytes(), 0, []
    while at < len(record):
        end = record.index(b"\n", at)
        name, thread, inode, place, size, file, before = record[at:end].decode().split("\t")
        at = end + 1 + int(size) + 1
        calls.append(Call(name, int(thread), int(inode), int(place), file, before, record[end + 1 : at - 1]))
    return calls


class File:
    def __init__(self, synced=b""):
        self.synced = synced
        self.since = []  # (offset, bytes) for a write, (size, None) for a truncation

    def after(self, changes):
        held = bytearray(self.synced)
        for place, bytes_ in changes:
            held.extend(bytes(max(0, place - len(held))))
            if bytes_ is None:
                del held[place:]
            else:
                held[place : place + len(bytes_)] = bytes_
        return bytes(held)

    def now(self):
        return self.after(self.since)

    def sync(self):
        self.synced, self.since = self.now(), []

    def left(self, way, draw):
        if way == "drawn":
            way = draw.choice(["lost", "empty", "zeros", "torn", "kept"])
        if way == "torn" and self.since:
            changes = self.since[: draw.randint(1, len(self.since))]
            place, bytes_ = changes.pop()
            return self.after([*changes, (place, bytes_ and bytes_[: draw.randint(0, len(bytes_))])])
        kept = {"lost": lambda change: None, "empty": lambda change: change if change[1] is None else None,
                "zeros": lambda change: (change[0], change[1] and bytes(len(change[1])))}.get(way, lambda change: change)
        return self.after([change for change in map(kept, self.since) if change is not None])


class Folder:
    def __init__(self, synced=None):
        self.synced = synced or {}
        self.since = []  # {name: its new node, or None}

    def after(self, changes):
        names = dict(self.synced)
        for change in changes:
            names |= change
        return {name: node for name, node in names.items() if node is not None}

    def now(self):
        return self.after(self.since)

    def sync(self):
        self.synced, self.since = self.now(), []

    def left(self, way, draw):
        kept = {"lost": lambda: False, "drawn": lambda: draw.random() < 0.5}.get(way, lambda: True)
        return self.after([change for change in self.since if kept()])


class Disk:
    def __init__(self, root):
        """The current contents of the folder count as synced."""
        self.path, self.nodes = root, {}
        self.root = self.node_of(root)

    def node_of(self, path):
        inode = path.stat().st_ino
        if inode not in self.nodes:
            self.nodes[inode] = (Folder({each.name: self.node_of(each) for each in path.iterdir()}) if path.is_dir()
                                 else File(path.read_bytes()))
        return self.nodes[inode]

    def find(self, path):
        """The folder that contains the path, and the name in it."""
        *folders, name = pathlib.Path(path).relative_to(self.path).parts
        folder = self.root
        for each in folders:
            folder = folder.now()[each]
        return folder, name

    def apply(self, call):
        if call.name in ("create", "mkdir"):
            self.nodes[call.inode] = Folder() if call.name == "mkdir" else File()
            self.name(call.path, self.nodes[call.inode])
        elif call.name == "write":
            self.nodes[call.inode].since.append((call.place, call.bytes_))
        elif call.name == "truncate":
            self.nodes[call.inode].since.append((call.place, None))
        elif call.name == "sync":
            self.nodes[call.inode].sync()
        elif call.name == "unlink":
            self.name(call.path, None)
        else:
            self.rename(call)

    def name(self, path, node, more=None):
        folder, name = self.find(path)
        folder.since.append({name: node} | (more or {}))

    def rename(self, call):
        folder, name = self.find(call.before)
        node = folder.now()[name]
        place, new = self.find(call.path)
        if call.name == "link":
            place.since.append({new: node})
        elif place is not folder:
            raise NotImplementedError(f"{call}: rename between folders is not supported")
        elif place.now().get(new) is not node:  # otherwise both names are kept
            place.since.append({new: node, name: None})

    def bytes_of(self, path):
        folder, name = self.find(path)
        return folder.now()[name].now()

    def now(self):
        return self.left("kept", None)

    def left(self, way, draw):
        """{path: (node, bytes) for a file, None for a folder}: one possible state of the disk."""
        bytes_, all_ = {}, {}

        def add(folder, path):
            for name, node in sorted(folder.left(way, draw).items()):
                if isinstance(node, Folder):
                    all_[path / name] = None
                    add(node, path / name)
                else:
                    if node not in bytes_:
                        bytes_[node] = node.left(way, draw)
                    all_[path / name] = (node, bytes_[node])

        add(self.root, pathlib.Path())
        return all_


def write_left(left, folder):
    """Writes a state of the disk to a folder; hard links remain hard links."""
    first = {}
    folder.mkdir()
    for path, file in left.items():
        if file is None:
            (folder / path).mkdir()
        elif file[0] in first:
            os.link(first[file[0]], folder / path)
        else:
            first[file[0]] = folder / path
            (folder / path).write_bytes(file[1])


def bytes_in(folder):
    """{path: bytes for a file, None for a folder}."""
    return {path.relative_to(folder): None if path.is_dir() else path.read_bytes() for path in folder.rglob("*")}
