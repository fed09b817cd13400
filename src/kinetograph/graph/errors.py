"""The exceptions and warnings of kinetograph.

Each exception is a subclass of the built-in type that a Python user would catch. A message says
what happened, names the user's array (by the variable that holds it) with its file and line, says
what was got and what was expected, and what to do.
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
    "MissingFileError",
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
    """Arrays whose shapes do not fit an operation, distribution or observation."""


class DimsError(KinetographError, ValueError):
    """Named dimensions that contradict each other or the shape they name."""


class DataError(KinetographError, ValueError):
    """Unusable data: not numeric, missing, infinite or outside a support."""


class MissingFileError(KinetographError, FileNotFoundError):
    """A file or folder that does not exist, given by its path."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""  # not the number of the system's error


class ModelError(KinetographError, ValueError):
    """Targets, unknowns and observations that do not make a model."""


class LoopError(KinetographError, RuntimeError):
    """A loop reached its bound while its predicate was still true."""


class ForkError(KinetographError, RuntimeError):
    """A computation in a forked process, which lacks JAX's threads."""


class StartError(KinetographError, RuntimeError):
    """No starting point with finite log density and gradient was found."""


class SymbolicError(KinetographError, TypeError):
    """An array of unknown value was used where Python needs a value."""


class SymbolicTruthError(SymbolicError, NotImplementedError):
    """An array of unknown value was used as a bool or number."""


class NoAttributeError(SymbolicError, AttributeError):
    """An attribute was read that this array does not have.

    Some attributes exist only for draws, results of loops, or matrices.
    """


class CheckError(KinetographError, ValueError):
    """A condition given to `kg.check` did not hold when the program ran."""


class BoundsError(CheckError, IndexError):
    """A computed index was outside its axis when the program ran."""


class DerivativeError(KinetographError, TypeError):
    """A derivative was requested that a lifted function does not have."""


class StagingError(KinetographError, RuntimeError):
    """An exception in the user's code while its graph was built."""


class ConversionError(KinetographError, ValueError):
    """A function that cannot be converted, or whose source is not available."""


class KinetographWarning(UserWarning):
    """The base of all warnings issued by kinetograph."""


class AutographWarning(KinetographWarning):
    """A function is not converted, or makes an unnecessarily large graph."""
