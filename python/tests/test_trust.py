"""Manifests, signatures, and tensors that are verified when they are read."""

import pickle
import stat

import numpy as np
import pytest
import safetensors.numpy

import fwright as fw
from fwright.bintensors import BintensorError, digest, generate_key, manifest, safe_open, sign, verify
from fwright.bintensors.numpy import load_file, save_file

FIELDS = {"a": np.arange(6, dtype="f4").reshape(2, 3), "b": np.arange(5, dtype="i8")}


@pytest.fixture
def files(tmp_path):
    """The same tensors with digests: a BinTensors file, a safetensors file, an index of shards, and a file without digests."""
    save_file(FIELDS, tmp_path / "m.bt", {"k": "v"}, digest="sha256")
    fw.convert(tmp_path / "m.bt", tmp_path / "m.safetensors")
    fw.convert(tmp_path / "m.bt", tmp_path / "s.bt", max_shard_size=30)
    save_file(FIELDS, tmp_path / "plain.bt")
    return {"bt": tmp_path / "m.bt", "safetensors": tmp_path / "m.safetensors", "index": tmp_path / "s.bt.index.json", "plain": tmp_path / "plain.bt"}


def broken(path, place=-1):
    """The file with another byte."""
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)
    return path


def test_one_digest_for_every_form_of_a_checkpoint(files):
    found = {digest(path) for path in files.values()}
    assert len(found) == 1 and found.pop().startswith("sha256:")
    text = manifest(files["bt"])
    assert text.startswith("bt.manifest 1\n") and text == manifest(files["index"]) == manifest(files["safetensors"].read_bytes())
    assert [line.split(" ")[1:] for line in text.splitlines()[1:]] == [["F32", "[2,3]", "a"], ["I64", "[5]", "b"]]
    with open(files["safetensors"], "rb") as source:
        assert digest(source) == digest(files["safetensors"].parent / "m.bt")
    heard = []
    expected = digest(files["bt"], progress=lambda done, total: heard.append((done, total)))
    assert heard[-1] == (64, 64)
    assert digest(files["plain"], expect=expected) == expected and verify(files["plain"], expect=expected) == 2
    # What is renamed or reshaped is another checkpoint.
    save_file({"a": FIELDS["a"].reshape(3, 2), "b": FIELDS["b"]}, files["plain"])
    for refused in (lambda: digest(files["plain"], expect=expected), lambda: verify(files["plain"], expect=expected)):
        with pytest.raises(BintensorError, match="ManifestMismatch") as caught:
            refused()
        assert caught.value.code == "manifest_mismatch"
    with pytest.raises(BintensorError) as caught:
        digest(files["bt"], expect="sha256:00")
    assert caught.value.code == "invalid_digest"
    with pytest.raises(BintensorError) as caught:
        digest(broken(files["bt"]))
    assert caught.value.code == "checksum_mismatch"


@pytest.mark.parametrize("kind", ["bt", "safetensors", "index", "plain"])
def test_signed_and_verified(kind, files, tmp_path):
    key = tmp_path / "release.key"
    public = generate_key(key)
    assert public == tmp_path / "release.key.pub" and stat.S_IMODE(key.stat().st_mode) == 0o600
    with pytest.raises(FileExistsError):
        generate_key(key)
    path = files[kind]
    with pytest.raises(BintensorError) as caught:
        verify(path, key=public)
    assert caught.value.code == "missing_signature"
    assert sign(path, key) == digest(path)
    assert verify(path, key=public) == verify(path, key=public.read_bytes(), expect=digest(path)) == 2
    # Values and metadata are what they were, for every reader.
    loaded = load_file(path, verify=True)
    assert all(np.array_equal(loaded[name], field) for name, field in FIELDS.items())
    if kind == "safetensors":
        theirs = safetensors.numpy.load_file(path)
        assert all(np.array_equal(theirs[name], field) for name, field in FIELDS.items())
    # A signature of other tensors, of another key, and a signature that is not one.
    other = tmp_path / "other.key"
    with pytest.raises(BintensorError) as caught:
        verify(path, key=generate_key(other))
    assert caught.value.code == "signature_mismatch"
    data = path if kind != "index" else next(tmp_path.glob("s-*-of-*.bt"))
    broken(data)
    for refused in (lambda: verify(path, key=public), lambda: sign(path, key)):
        with pytest.raises(BintensorError) as caught:
            refused()
        assert caught.value.code == "checksum_mismatch"


def test_keys_and_outputs(files, tmp_path):
    public = generate_key(tmp_path / "k")
    key = (tmp_path / "k").read_bytes()
    output = tmp_path / "signed.bt"
    expected = sign(files["bt"], key, output)
    assert verify(output, key=public, expect=expected) == 2
    with pytest.raises(BintensorError) as caught:
        sign(files["bt"], key, output)
    assert caught.value.code == "output_exists"
    assert sign(files["bt"], key, output, force=True) == expected
    for refused, code in [
        (lambda: sign(files["bt"], public), "invalid_key"),
        (lambda: sign(files["bt"], b"\xff"), "invalid_key"),
        (lambda: verify(files["bt"], key=key), "invalid_key"),
        (lambda: verify(files["bt"], b"1234", key=public), "invalid_argument"),
    ]:
        with pytest.raises(BintensorError) as caught:
            refused()
        assert caught.value.code == code
    (tmp_path / "k").chmod(0o644)
    with pytest.raises(BintensorError, match="chmod 600") as caught:
        sign(files["bt"], tmp_path / "k")
    assert caught.value.code == "key_permissions"
    with pytest.raises(FileNotFoundError):
        sign(files["bt"], tmp_path / "absent")
    fw.save(tmp_path / "m.npz", FIELDS)
    with pytest.raises(BintensorError) as caught:
        sign(tmp_path / "m.npz", key)
    assert caught.value.code == "not_signable"


@pytest.mark.parametrize("kind", ["bt", "safetensors", "index"])
@pytest.mark.parametrize("mmap", [True, False])
def test_tensors_are_verified_when_they_are_read(kind, mmap, files, tmp_path):
    def opened():
        yield safe_open(files[kind], "np", mmap=mmap, verify=True), lambda file, name: file.get_tensor(name)
        yield fw.open(files[kind], verify=True), lambda file, name: file[name].numpy(copy=None if mmap else True)

    for file, read in opened():
        for handle in (file, pickle.loads(pickle.dumps(file))):
            assert all(np.array_equal(read(handle, name), field) for name, field in FIELDS.items())
    last = {"bt": "m.bt", "safetensors": "m.safetensors", "index": None}[kind]
    path = tmp_path / last if last else next(path for path in tmp_path.glob("s-*-of-*.bt") if "b" in fw.open(path))
    broken(path)
    wrong = next(name for name in fw.open(path) if not np.array_equal(fw.open(path)[name].numpy(), FIELDS[name]))
    for file, read in opened():
        for handle in (file, pickle.loads(pickle.dumps(file))):
            with pytest.raises((BintensorError, ValueError)) as caught:
                read(handle, wrong)
            assert caught.value.code == "checksum_mismatch" and wrong in str(caught.value)
            [right] = set(FIELDS) - {wrong}
            assert np.array_equal(read(handle, right), FIELDS[right])
    # Parts are not compared, and neither is anything without `verify`.
    assert safe_open(files[kind], "np", verify=True).get_slice(wrong)[0].shape == FIELDS[wrong][0].shape
    assert fw.open(files[kind], verify=True)[wrong][0].shape == FIELDS[wrong][0].shape
    assert fw.open(files[kind])[wrong].numpy().shape == load_file(files[kind])[wrong].shape


def test_what_has_no_digest_is_refused_where_it_must_have_one(files, tmp_path):
    for read in (lambda: safe_open(files["plain"], "np", verify=True).get_tensor("a"), lambda: fw.open(files["plain"], verify=True)["a"].numpy()):
        with pytest.raises((BintensorError, ValueError), match="no digest of tensor") as caught:
            read()
        assert caught.value.code == "missing_digest"
    # Objects of Tensogram carry digests of their own.
    fw.save(tmp_path / "m.tgm", FIELDS)
    assert np.array_equal(fw.open(tmp_path / "m.tgm", verify=True)["a"].numpy(), FIELDS["a"])
    # Headers alone tell that a tensor has another name.
    data = files["bt"].read_bytes()
    assert data.count(b"bt.digest/a") == 1
    files["bt"].write_bytes(data.replace(b"bt.digest/a", b"bt.digest/c"))
    for refused in (lambda: safe_open(files["bt"], "np", verify=True), lambda: fw.open(files["bt"], verify=True)):
        with pytest.raises((BintensorError, ValueError)) as caught:
            refused()
        assert caught.value.code == "manifest_mismatch"
    assert safe_open(files["bt"], "np").keys() == ["a", "b"]


def test_commands_compare_digests_unless_told_not_to(files, tmp_path):
    broken(files["bt"])
    with pytest.raises(fw.CommandError) as caught:
        fw.convert(files["bt"], tmp_path / "out.safetensors")
    assert caught.value.code == "checksum_mismatch"
    assert fw.convert(files["bt"], tmp_path / "out.safetensors", ignore_digests=True)["digests"]["ignored"] == 2
    assert not fw.diff(files["bt"], files["plain"], ignore_digests=True)["ok"]
    found = fw.validate(files["bt"])
    assert not found["ok"] and found["digests_checked"] == 2
