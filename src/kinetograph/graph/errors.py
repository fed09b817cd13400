"""The errors kinetograph raises, each a subclass of the built-in type a Python user would catch.

A message says what happened, to which of the user's arrays (by the name of the variable that holds
it) and where it was written, what was got and expected, and what to do.
"""

__all__ = [
    "AutographWarning",
    "CheckError",
    "ConversionError",
    "DataError",
    "DimsError",
    "ForkError",
    "KinetographError",
    "KinetographWarning",
    "LoopError",
    "ModelError",
    "NoAttributeError",
    "ShapeError",
    "StagingError",
    "StartError",
    "SymbolicError",
    "SymbolicTruthError",
]


class KinetographError(Exception):
    """The base of all errors raised on purpose by kinetograph."""


class ShapeError(KinetographError, ValueError):
    """Arrays whose shapes do not fit an operation, a distribution or an observation."""


class DimsError(KinetographError, ValueError):
    """Named dimensions that contradict each other or the shape they name."""


class DataError(KinetographError, ValueError):
    """Data that cannot be used: not numeric, missing or infinite, outside a support."""


class ModelError(KinetographError, ValueError):
    """Targets, unknowns and observations that do not make a model."""


class LoopError(KinetographError, RuntimeError):
    """A loop was ended by its bound while its predicate was still true."""


class ForkError(KinetographError, RuntimeError):
    """A computation in a forked process, which lacks the threads for it."""


class StartError(KinetographError, RuntimeError):
    """No starting point with a finite log density and gradient was found."""


class SymbolicError(KinetographError, TypeError):
    """An array whose value is not known was used where Python needs a value."""


class SymbolicTruthError(SymbolicError, NotImplementedError):
    """Python asked for the truth, or the number, of an array whose value is not known."""


class NoAttributeError(SymbolicError, AttributeError):
    """An attribute was read that only other arrays have: draws, results of loops, matrices."""


class CheckError(KinetographError, ValueError):
    """A condition given to `kg.check` did not hold when the program ran."""


class BoundsError(CheckError, IndexError):
    """An index that was computed fell outside of its axis when the program ran."""


class DerivativeError(KinetographError, TypeError):
    """A derivative was asked for that a lifted function does not have."""


class StagingError(KinetographError, RuntimeError):
    """An exception in the user's code while it was being turned into a graph."""


class ConversionError(KinetographError, ValueError):
    """A function whose source cannot be had, or holds what cannot be converted."""


class KinetographWarning(UserWarning):
    """The base of all warnings issued by kinetograph."""


class AutographWarning(KinetographWarning):
    """A function is not converted, or makes a graph that is larger than it need be."""
