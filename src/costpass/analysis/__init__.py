"""One function per question: a ledger in, a typed answer out."""
