"""costpass compact: a columnar copy."""

from pathlib import Path
from typing import Annotated

import typer

from costpass.cli import common


def command(
    sources: common.Sources,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write a Parquet file of its own, from any ledgers or logs.")
    ] = None,
) -> None:
    """Write a ledger's attempts as Parquet (zstd), which reads many times faster; the journal stays."""
    from costpass.errors import CostpassError
    from costpass.ledger.compact import compact, export
    from costpass.ledger.store import Ledger

    if output is not None:
        if output.exists():
            raise CostpassError(f"{output} is already there")
        with common.opened(sources) as found:
            count = export(found.scan, output)
        typer.echo(f"{count} attempts written to {output} ({output.stat().st_size:,} bytes)")
        return
    for name in sources:
        if not Ledger.is_ledger(Path(name)):
            raise CostpassError(f"{name} is not a ledger; say where the Parquet file should go with -o")
        done = compact(Ledger(Path(name)))
        typer.echo(
            f"{name}: {done.attempts} attempts, {done.journal_bytes:,} bytes as {done.parquet_bytes:,} of Parquet"
        )
