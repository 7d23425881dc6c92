"""The compiled classes, under a name that a stub describes."""

from .._fwright import structframe as _native

Damage = _native.Damage
Decoder = _native.Decoder
Frame = _native.Frame
