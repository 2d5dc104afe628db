"""costpass's own attempts, as `costpass show --format jsonl` prints them."""

from collections.abc import Iterable

from costpass.attempt import Attempt
from costpass.ledger.importers.protocol import Row, Settings
from costpass.ledger.importers.source import Source


class CostpassAttempts:
    name = "costpass"
    about = "costpass's own attempts (JSON lines)"

    def recognises(self, source: Source) -> bool:
        return "schema_version" in source.first and {"problem", "strategy"} <= source.first.keys()

    def rows(self, source: Source) -> Iterable[Row]:
        return source.json_rows()

    def attempts(self, row: Row, settings: Settings) -> Iterable[Attempt]:  # noqa: ARG002
        import json

        # Back through JSON: the record is strict in Python and reads dates from strings in JSON alone.
        yield Attempt.model_validate_json(json.dumps(row.content))


IMPORTER = CostpassAttempts()
