"""The jobs of the commands, done with the reference package the way its users would."""

import contextlib
import os
import sys
import time

import numpy as np
import tensogram

NOWHERE = open(os.devnull, "w")


def ls(path):
    with tensogram.TensogramFile.open(path) as file:
        for index in range(len(file)):
            found = file.file_decode_descriptors(index)
            metadata = found["metadata"]
            for number, one in enumerate(found["descriptors"]):
                keys = [metadata.get_path_at(number, key) for key in ("mars.param", "mars.step")]
                print(index, number, *keys, one.dtype, one.shape, one.encoding, one.compression, sep="\t", file=NOWHERE)


def ls_where(path):
    with tensogram.TensogramFile.open(path) as file:
        for index in range(len(file)):
            metadata = file.file_decode_metadata(index)
            if metadata.get_path("mars.param") == "2t" and metadata.get_path("mars.step") <= 12:
                for one in file.file_decode_descriptors(index)["descriptors"]:
                    print(index, metadata.get_path("mars.step"), one.dtype, one.shape, sep="\t", file=NOWHERE)


def stats(path):
    with tensogram.TensogramFile.open(path) as file:
        for index in range(len(file)):
            for _, values in file.decode_message(index).objects:
                kept = values[np.isfinite(values)]
                found = kept.min(), kept.max(), kept.mean(), kept.std(), np.isnan(values).sum(), np.isinf(values).sum()
                print(index, *found, sep="\t", file=NOWHERE)


@contextlib.contextmanager
def whole(output):
    """A file that appears at its place when its bytes are on the disk, as those of fw do."""
    with open(output + ".part", "wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())
    os.replace(output + ".part", output)


def copy(path, output):
    with tensogram.TensogramFile.open(path) as file, whole(output) as copied:
        for index in range(len(file)):
            if file.file_decode_metadata(index).get_path("mars.step") == 250:
                copied.write(file.read_message(index))


def set_key(path, output):
    with tensogram.TensogramFile.open(path) as file, whole(output) as changed:
        for index in range(len(file)):
            metadata = file.file_decode_metadata(index)
            if metadata.get_path("mars.step") != 250:
                changed.write(file.read_message(index))
                continue
            message = file.decode_message(index)
            base = [{key: value for key, value in entry.items() if key != "_reserved_"} for entry in message.metadata.base]
            base[0]["mars"]["class"] = "rd"
            objects = []
            for descriptor, values in message.objects:
                words = ("shape", "dtype", "byte_order", "encoding", "filter", "compression")
                asked = {word: getattr(descriptor, word) for word in words}
                objects.append(({"type": descriptor.obj_type, **asked, **descriptor.params}, values))
            changed.write(tensogram.encode({"base": base, "_extra_": message.metadata.extra}, objects))


JOBS = {"ls": ls, "ls_where": ls_where, "stats": stats, "copy": copy, "set": set_key}

for line in sys.stdin:
    name, *files = line.rstrip("\n").split("\t")
    begin = time.perf_counter_ns()
    JOBS[name](*files)
    print(time.perf_counter_ns() - begin, flush=True)
