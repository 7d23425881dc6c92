"""Every name of the reference package is ours too, with the same parameters and defaults."""

import inspect

import pytest
import tensogram as theirs

import fwright.tensogram as ours

# Names of the reference that are no part of what it offers: what its own module imported.
NOT_OFFERED = {"Mapping", "namedtuple", "tensogram"}

# What ours takes beyond the reference; each is a keyword that a caller of the reference never gives.
BEYOND = {
    "decode": {"copy"},
    "decode_object": {"copy"},
    "TensogramFile.decode_message": {"copy"},
    "TensogramFile.file_decode_object": {"copy"},
    "StreamingEncoder": {"sink"},
}


def offered(module):
    return [name for name in dir(module) if name not in NOT_OFFERED and not name.startswith("__")] + [
        "__version__",
        "__has_grib__",
        "__has_netcdf__",
    ]


@pytest.mark.parametrize("name", offered(theirs))
def test_every_name_is_there(name):
    assert hasattr(ours, name), f"{name} of tensogram {theirs.__version__} is missing"
    mine, other = getattr(ours, name), getattr(theirs, name)
    assert inspect.isclass(mine) == inspect.isclass(other)
    assert callable(mine) == callable(other)
    if inspect.isclass(other):
        missing = [member for member in vars(other) if not hasattr(mine, member) and member != "__weakref__"]
        assert missing == []
        assert issubclass(mine, Exception) == issubclass(other, Exception)
        assert mine.__name__ == other.__name__


def functions():
    for name in offered(theirs):
        value = getattr(theirs, name)
        if inspect.isclass(value):
            if getattr(value, "__text_signature__", None):
                yield name, value, getattr(ours, name)
            for member in vars(value):
                # What Python itself calls has no keywords to compare.
                if not member.startswith("__") and callable(getattr(value, member)) and not issubclass(value, (tuple, Exception)):
                    yield f"{name}.{member}", getattr(value, member), getattr(getattr(ours, name), member)
        elif callable(value):
            yield name, value, getattr(ours, name)


@pytest.mark.parametrize(("name", "other", "mine"), list(functions()))
def test_parameters_and_defaults(name, other, mine):
    other, mine = inspect.signature(other).parameters, inspect.signature(mine).parameters
    beyond = BEYOND.get(name, set())
    assert [key for key in mine if key not in beyond] == list(other)
    for key in beyond:
        assert mine[key].kind is inspect.Parameter.KEYWORD_ONLY
    for key, parameter in other.items():
        # The reference shows some defaults as `...`; all of those are the digest.
        expected = "xxh3" if parameter.default is ... else parameter.default
        assert mine[key].default == expected, key
        assert mine[key].kind == parameter.kind, key


def test_classes_cannot_be_made_by_hand():
    for name in ["TensogramFile", "AsyncTensogramFile", "Metadata", "DataObjectDescriptor", "MessageIter"]:
        for module in (ours, theirs):
            with pytest.raises(TypeError):
                getattr(module, name)()


def test_exceptions_have_the_same_family():
    assert issubclass(ours.HashMismatchError, ours.IntegrityError)
    assert issubclass(ours.MissingHashError, ours.IntegrityError)
    assert ours.IntegrityError.__bases__ == theirs.IntegrityError.__bases__ == (Exception,)


def test_metadata_is_a_mapping():
    import collections.abc

    assert issubclass(ours.Metadata, collections.abc.Mapping)
    assert ours.WIRE_VERSION == theirs.WIRE_VERSION
