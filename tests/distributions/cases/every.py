"""The cases of all families, and of draws that no family has."""

from tests.distributions.cases.case import Case
from tests.distributions.cases.reals import REALS
from tests.distributions.cases.vectors import VECTORS
from tests.distributions.cases.wholes import WHOLES

from kinetograph.distributions.family import FAMILIES

__all__ = ["CASES", "with_part"]

CASES = REALS | WHOLES | VECTORS


def with_part(part: str, among: dict[str, Case] = CASES) -> list[str]:
    """The names of the families whose case has this part."""
    return [name for name, case in among.items() if name in FAMILIES and getattr(case, part)]
