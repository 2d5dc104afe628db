"""The ledger: an append-only store of attempts, and the one way in which everything else reads them."""

from costpass.ledger.journal import Journal
from costpass.ledger.store import Ledger

__all__ = ["Journal", "Ledger"]
