"""What the pipeline does for methods that pose a problem of smallest eigenvalues: the route, and the check."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ritz.data.validate import room_for
from ritz.methods.posed import Posed
from ritz.spectral.plan import Plan
from ritz.spectral.smallest_plan import choose_smallest, known_null_vectors
from ritz.spectral.verify.operator import verify_operator
from ritz.spectral.verify.smallest import verify_smallest

if TYPE_CHECKING:
    from ritz.spectral.verify import Verification

__all__ = ["planned_smallest", "verify_posed"]


def planned_smallest(method: Any, posed: Posed) -> Plan:
    """The route to the smallest eigenvalues of a problem as it was posed."""
    room = None if method.memory is None else room_for(method)
    known = known_null_vectors(posed.operator, posed.null)
    return choose_smallest(posed.operator, posed.wanted, known, solver=method.solver, memory=room)


def verify_posed(certificate: Any, posed: Posed) -> Verification:
    """Check a certificate against the operator of a problem that was posed again from the data."""
    if posed.which == "smallest":
        return verify_smallest(certificate, posed.operator, posed.null)
    return verify_operator(certificate, posed.operator, posed.kind)
