"""The commands of the table in docs/cli.md beside the reference package, on the same files.

Standard input is the list of rows, [command of the reference, command here]. Every row needs a check below: what the reference
reads from the input, or from what our command wrote, must be what the row promises. The reference's own program is not part of its
Python package, so the layout of its text is not compared; what it prints is.
"""

import json
import os
import shlex
import subprocess
import sys

import numpy as np
import tensogram


def run(line):
    """Our command, which must succeed: what it printed."""
    words = shlex.split(line)
    assert words[0] == "fw", line
    done = subprocess.run([os.environ["FW_PROGRAM"], *words[1:]], capture_output=True, text=True)
    assert done.returncode == 0, (line, done.stdout, done.stderr)
    return done.stdout


def run_json(line):
    return json.loads(run(line if "--json" in line else line + " --json"))


def bytes_of(path):
    with open(path, "rb") as file:
        return file.read()


def messages(path):
    """The messages of a file, as the reference finds them."""
    data = bytes_of(path)
    return [data[start : start + length] for start, length in tensogram.scan(data)]


def lookup(meta, key):
    """A key as the reference looks it up: the first base entry that has it, then the message (specification 1.2)."""
    for found in [*meta.base, meta.extra]:
        for part in key.split("."):
            found = found.get(part) if isinstance(found, dict) else None
        if found is not None:
            return found
    return None


def shown(value):
    return "N/A" if value is None else str(value)


def same_objects(ours, theirs):
    """The same objects in the same order, bit by bit."""
    assert len(ours) == len(theirs)
    for (left, a), (right, b) in zip(ours, theirs):
        assert (left.dtype, list(left.shape)) == (right.dtype, list(right.shape))
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


def decoded(message):
    return tensogram.decode(message, verify_hash=True)


def clean(entry):
    return {key: value for key, value in entry.items() if key != "_reserved_"}


def selected(keep):
    return [index for index, message in enumerate(messages("forecast.tgm")) if keep(tensogram.decode_metadata(message))]


def info(line):
    found = run_json(line)
    with tensogram.TensogramFile.open("forecast.tgm") as file:
        assert found["tensogram"]["message_count"] == len(file)
    assert found["file_bytes"] == os.path.getsize("forecast.tgm")
    objects = sum(len(tensogram.decode_descriptors(message)[1]) for message in messages("forecast.tgm"))
    assert found["tensor_count"] == objects


def ls(line):
    found = run_json(line)
    assert len(found["messages"]) == len(messages("forecast.tgm"))
    for row in found["tensors"]:
        descriptor = tensogram.decode_descriptors(messages("forecast.tgm")[row["message"]])[1][row["object"]]
        assert (row["dtype"], row["shape"]) == (descriptor.dtype, list(descriptor.shape))


def ls_keys(line):
    rows = run_json(line + " --messages")["messages"]
    for row, message in zip(rows, messages("forecast.tgm"), strict=True):
        meta = tensogram.decode_metadata(message)
        assert row["keys"] == {key: lookup(meta, key) for key in ["mars.param", "mars.step"]}


def ls_where(keep):
    def check(line):
        # The reference looks at the first object that has the key, so single objects are what both select by.
        run(line)
        line = line.replace("forecast.tgm", "one-*.tgm").replace("ls ", "ls --messages ")
        chosen = [row["keys"]["file"] for report in run_json(line + " -p file")["files"] for row in report["messages"]]
        wanted = [name for name in sorted(singles) if keep(tensogram.decode_metadata(messages(name)[0]))]
        assert chosen == wanted, (chosen, wanted)

    return check


def dump(line):
    for report, message in zip(run_json(line)["messages"], messages("forecast.tgm"), strict=True):
        meta, descriptors = tensogram.decode_descriptors(message)
        assert report["metadata"]["base"] == meta.base
        assert report["metadata"]["_extra_"] == meta.extra
        for row, descriptor in zip(report["objects"], descriptors, strict=True):
            assert (row["type"], row["dtype"], row["shape"]) == ("ntensor", descriptor.dtype, list(descriptor.shape))
            assert (row["encoding"], row["filter"], row["compression"]) == (
                descriptor.encoding,
                descriptor.filter,
                descriptor.compression,
            )
            for key, value in row["params"].items():
                assert descriptor.params[key] == value, key


def dump_keys(line):
    for report, message in zip(run_json(line)["messages"], messages("forecast.tgm"), strict=True):
        for row, entry in zip(report["objects"], tensogram.decode_metadata(message).base, strict=True):
            assert row["keys"]["mars.param"] == entry["mars"]["param"]


def dump_where(line):
    for report, message in zip(run_json(line)["messages"], messages("forecast.tgm"), strict=True):
        base = tensogram.decode_metadata(message).base
        chosen = [place for place, entry in enumerate(base) if entry["mars"]["param"] == "2t"]
        assert [row["object"] for row in report["objects"]] == chosen


def version(line):
    assert run(line).split()[0] == "fw"


def manual(line):
    assert "Usage: fw ls" in run(line)


def get(keys, keep=lambda entry: True):
    def check(line):
        expected = []
        for message in messages("forecast.tgm"):
            for entry in tensogram.decode_metadata(message).base:
                if keep(entry):
                    expected.append(" ".join(shown(entry["mars"][key.split(".")[1]]) for key in keys))
        assert run(line).splitlines() == expected

    return check


def changed(output, change):
    """The messages of the output are those of the input with other metadata, as the reference reads both."""
    ours, theirs = messages(output), messages("forecast.tgm")
    for mine, original in zip(ours, theirs, strict=True):
        a, b = decoded(mine), decoded(original)
        base, extra = [clean(entry) for entry in b.metadata.base], dict(b.metadata.extra)
        change(base, extra)
        assert [clean(entry) for entry in a.metadata.base] == base
        assert a.metadata.extra == extra
        same_objects(a.objects, b.objects)
        assert tensogram.validate(mine, level="full")["issues"] == []


def set_step(line):
    run(line)

    def change(base, _):
        for entry in base:
            # The reference would store the text "12".
            entry["mars"] = {**entry["mars"], "step": 12}

    changed("out1.tgm", change)


def set_extra(line):
    run(line)

    def change(base, extra):
        if any(entry["mars"]["param"] == "2t" for entry in base):
            extra["run"] = 7

    changed("out2.tgm", change)


def copy_all(line):
    run(line)
    assert bytes_of("out3.tgm") == bytes_of("forecast.tgm")


def copy_where(line):
    run(line)
    chosen = selected(lambda meta: any(entry["mars"]["param"] == "2t" for entry in meta.base))
    assert messages("out4.tgm") == [messages("forecast.tgm")[index] for index in chosen]


def copy_names(line):
    run(line)
    for name in singles:
        meta = tensogram.decode_metadata(messages(name)[0])
        path = f"out-{lookup(meta, 'mars.param')}-{lookup(meta, 'mars.step')}.tgm"
        (found,) = messages(path)
        assert clean(tensogram.decode_metadata(found).base[0]) == clean(meta.base[0])
        same_objects(decoded(found).objects, decoded(messages(name)[0]).objects)
    # Whole messages are copied byte by byte, under the names that the reference gives them.
    run("fw copy one-0.tgm 'whole-[mars.param]-[mars.step]-[absent].tgm' --missing unknown")
    meta = tensogram.decode_metadata(messages("one-0.tgm")[0])
    path = f"whole-{lookup(meta, 'mars.param')}-{lookup(meta, 'mars.step')}-unknown.tgm"
    assert bytes_of(path) == bytes_of("one-0.tgm")


def merge(output, pick, names=("field-msl-0.tgm", "field-msl-6.tgm")):
    def check(line):
        run(line)
        (found,) = messages(output)
        parts = [decoded(message) for name in names for message in messages(name)]
        all_of_them = decoded(found)
        assert [clean(entry) for entry in all_of_them.metadata.base] == [
            clean(entry) for part in parts for entry in part.metadata.base
        ]
        same_objects(all_of_them.objects, [pair for part in parts for pair in part.objects])
        extra = {}
        for part in parts if pick == "last" else reversed(parts):
            extra |= part.metadata.extra
        assert all_of_them.metadata.extra == extra
        assert tensogram.validate(found, level="full")["issues"] == []

    return check


def split(template, source):
    def check(line):
        run(line)
        number = 0
        for message in messages(source):
            whole = decoded(message)
            for place, pair in enumerate(whole.objects):
                (found,) = messages(template.format(number))
                if len(whole.objects) == 1:
                    assert found == message
                part = decoded(found)
                same_objects(part.objects, [pair])
                assert clean(part.metadata.base[0]) == clean(whole.metadata.base[place])
                assert part.metadata.extra == whole.metadata.extra
                number += 1
        assert not os.path.exists(template.format(number))

    return check


def reshuffle(line):
    run(line)
    changed("r.tgm", lambda base, extra: None)
    streamed = bytes_of("streamed.tgm")
    run("fw reshuffle streamed.tgm -o indexed.tgm")
    (found,) = messages("indexed.tgm")
    same_objects(decoded(found).objects, decoded(streamed).objects)
    assert [clean(entry) for entry in tensogram.decode_metadata(found).base] == [
        clean(entry) for entry in tensogram.decode_metadata(streamed).base
    ]


def validate(level):
    def check(line):
        run(line)
        for name in ["forecast.tgm", "damaged.tgm", "plain.tgm"]:
            words = [word.replace("forecast.tgm", name) for word in shlex.split(line)[1:] if word != "--json"]
            ours = subprocess.run([os.environ["FW_PROGRAM"], *words, "--json"], capture_output=True, text=True)
            found = json.loads(ours.stdout)
            theirs = tensogram.validate_file(name, level=level, check_canonical="canonical" in line)
            issues = [issue for report in theirs["messages"] for issue in report["issues"]]
            codes = sorted({issue["code"] for issue in issues})
            assert sorted({finding["code"] for finding in found["findings"]}) == codes, (name, found, theirs)
            is_ok = not theirs["file_issues"] and all(issue["severity"] != "error" for issue in issues)
            assert (found["ok"], ours.returncode) == (is_ok, 0 if is_ok else 1), (name, found, theirs)
            for row, report in zip(found["messages"], theirs["messages"], strict=True):
                assert row["object_count"] == report["object_count"]
                assert row["hash_verified"] == report["hash_verified"]

    return check


def doctor(line):
    found, theirs = run_json(line), tensogram.doctor()
    assert theirs.keys() <= found.keys()
    assert theirs["build"].keys() <= found["build"].keys()
    assert found["build"]["wire_version"] == theirs["build"]["wire_version"]
    codecs = {"szip", "zstd", "lz4", "blosc2", "zfp", "sz3"}
    assert codecs <= {row["name"] for row in found["features"] if row["state"] == "on"}
    for row in found["self_test"]:
        assert row.keys() <= {"label", "outcome", "reason", "error"} and row["outcome"] in ("ok", "skipped"), row


def prepared():
    """Files with one object each, a streamed message, and one without digests, all written by the reference."""
    names = []
    for message in messages("forecast.tgm"):
        meta = tensogram.decode_metadata(message)
        for place, (descriptor, array) in enumerate(tensogram.decode(message).objects):
            names.append(f"one-{len(names)}.tgm")
            described = {"type": "ntensor", "shape": list(descriptor.shape), "dtype": descriptor.dtype}
            entry = {"base": [clean(meta.base[place])], **meta.extra}
            with open(names[-1], "wb") as file:
                file.write(tensogram.encode(entry, [(described, np.asarray(array))], allow_nan=True))
    described = {"type": "ntensor", "shape": [4], "dtype": "float32"}
    values = np.arange(4, dtype="float32")
    with open("plain.tgm", "wb") as file:
        file.write(tensogram.encode({"base": [{"name": "x"}]}, [(described, values)], hash=None))
    stream = tensogram.StreamingEncoder({"base": [{"name": "x"}, {"name": "y"}]})
    for _ in range(2):
        stream.write_object(described, values)
    with open("streamed.tgm", "wb") as file:
        file.write(stream.finish())
    return names


CHECKS = {
    "tensogram info forecast.tgm": info,
    "tensogram ls forecast.tgm": ls,
    "tensogram ls -p mars.param,mars.step forecast.tgm": ls_keys,
    "tensogram ls -w mars.param=2t/msl forecast.tgm": ls_where(lambda meta: lookup(meta, "mars.param") in ("2t", "msl")),
    "tensogram ls -w mars.param!=2t forecast.tgm": ls_where(lambda meta: lookup(meta, "mars.param") != "2t"),
    "tensogram ls -j forecast.tgm": ls,
    "tensogram dump forecast.tgm": dump,
    "tensogram dump -p mars.param forecast.tgm": dump_keys,
    "tensogram dump -w mars.param=2t forecast.tgm": dump_where,
    "tensogram dump -j forecast.tgm": dump,
    "tensogram get -p mars.param,mars.step forecast.tgm": get(["mars.param", "mars.step"]),
    "tensogram get -p mars.step -w mars.param=2t forecast.tgm": get(["mars.step"], lambda e: e["mars"]["param"] == "2t"),
    "tensogram set -s mars.step=12 forecast.tgm out1.tgm": set_step,
    "tensogram set -s extra.run=7 -w mars.param=2t forecast.tgm out2.tgm": set_extra,
    "tensogram copy forecast.tgm out3.tgm": copy_all,
    "tensogram copy -w mars.param=2t forecast.tgm out4.tgm": copy_where,
    "tensogram copy forecast.tgm out-[mars.param]-[mars.step].tgm": copy_names,
    "tensogram merge -o m1.tgm field-msl-0.tgm field-msl-6.tgm": merge("m1.tgm", "first"),
    "tensogram merge -s last -o m2.tgm field-msl-0.tgm field-msl-6.tgm": merge("m2.tgm", "last"),
    "tensogram merge -s error -o m3.tgm field-msl-0.tgm field-msl-0.tgm": merge("m3.tgm", "first", ["field-msl-0.tgm"] * 2),
    "tensogram split -o part.tgm forecast.tgm": split("part_{:04}.tgm", "forecast.tgm"),
    "tensogram split -o part-[index].tgm 2t.tgm": split("part-{:04}.tgm", "2t.tgm"),
    "tensogram reshuffle -o r.tgm forecast.tgm": reshuffle,
    "tensogram validate forecast.tgm": validate("default"),
    "tensogram validate --quick forecast.tgm": validate("quick"),
    "tensogram validate --checksum forecast.tgm": validate("checksum"),
    "tensogram validate --full forecast.tgm": validate("full"),
    "tensogram validate --canonical forecast.tgm": validate("default"),
    "tensogram validate --json forecast.tgm": validate("default"),
    "tensogram doctor": doctor,
    "tensogram doctor --json": doctor,
    "tensogram --version": version,
    "tensogram help ls": manual,
}

singles = prepared()
for theirs, ours in json.load(sys.stdin):
    try:
        CHECKS[theirs](ours)
    except Exception as error:
        raise AssertionError(f"{theirs} and {ours}: {error!r}") from error
    print(theirs)
